import type { ReactNode } from 'react';
import type { Loaded } from '../api/use-load.ts';
import { FailureNote } from './note.tsx';

/** Shows that data is loading, why it could not be loaded, or the data. Where reloading fails, the old data stays. */
export function Shown<Data>({ of, children }: { of: Loaded<Data>; children: (data: Data) => ReactNode }) {
  const { data, error, isLoading, reload } = of;
  if (data === undefined && isLoading) {
    return (
      <p className="loading" role="status">
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
