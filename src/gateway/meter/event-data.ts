/** The JSON that an SSE event carries, given as Latin-1 text; undefined where it carries none. */
export function eventData(event: string): Record<string, unknown> | undefined {
  const data = Buffer.from(event, 'latin1')
    .toString('utf8')
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5))
    .join('\n');
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
