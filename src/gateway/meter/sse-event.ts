/** Name of an SSE event that came as Latin-1 text: its `event:` line, else the `type` in its data. */
export function eventName(event: string): string {
  const named = /(?:^|[\r\n])event: ?([^\r\n]*)/.exec(event);
  if (named) return named[1] as string;
  const type = (eventData(event) as { type?: unknown } | undefined)?.type;
  return typeof type === 'string' ? type : '';
}

/** The data of an SSE event that came as Latin-1 text, read as JSON in UTF-8; undefined where it is none. */
export function eventData(event: string): unknown {
  const data = Buffer.from(event, 'latin1')
    .toString('utf8')
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5))
    .join('\n');
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
