import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Loaded } from '../api/use-load.ts';
import { FailureNote } from './note.tsx';

/** Shows that data is loading, why it could not be loaded, or the data. Where reloading fails, the old data stays. */
export function Shown<Data>({ of, children }: { of: Loaded<Data>; children: (data: Data) => ReactNode }) {
  const { data, error, isLoading, reload } = of;
  if (data === undefined && isLoading) {
    return <Loading />;
  }
  return (
    <>
      <FailureNote error={error} retry={reload} />
      {data !== undefined && children(data)}
    </>
  );
}

/** Placeholder in the form of a page's first rows while they load. */
export function Loading() {
  return (
    <div role="status" aria-label="Loading…">
      <Skeleton height={28} mb="md" width="40%" />
      {ROWS.map((row) => (
        <Skeleton key={row} height={20} mb="sm" />
      ))}
    </div>
  );
}

const ROWS = [1, 2, 3, 4, 5];
