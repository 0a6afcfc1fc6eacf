import type { ComponentChildren } from 'preact';
import type { Loaded } from '../api/use-load.ts';
import { FailureNote } from './note.tsx';

/** Shows loading, failure, or the data. Where reloading fails, the old data stays below the reason. */
export function Shown<Data>({
  of,
  children,
}: {
  of: Loaded<Data>;
  children: (data: Data) => ComponentChildren;
}) {
  const { data, error, isLoading, reload } = of;
  if (data === undefined && isLoading) {
    return (
      <p class="loading" role="status">
        Loading…
      </p>
    );
  }
  return (
    <>
      <FailureNote error={error} retry={reload} />
      {data !== undefined && children(data)}
    </>
  );
}
