/** How much of the whole, as a bar; the text beside it says it in numbers. `full` marks one that has come to its end. */
export function Bar({ part, full = false }: { part: number; full?: boolean }) {
  const percent = Math.min(100, Math.max(0, part * 100));
  return (
    <span class={full ? 'bar bar-full' : 'bar'} aria-hidden="true">
      {percent > 0 && <span style={{ width: `${percent}%` }} />}
    </span>
  );
}
