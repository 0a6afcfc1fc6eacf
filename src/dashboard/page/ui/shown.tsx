import { Skeleton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './note.tsx';

/**
 * Shows that an answer is loading, why it could not be loaded, or what `children` makes of it. If reading again fails,
 * the old answer stays below the reason.
 */
export function Shown<Data>({
  of,
  loading = <Loading />,
  children,
}: {
  of: UseQueryResult<Data, Error>;
  loading?: ReactNode;
  children: (data: Data) => ReactNode;
}) {
  if (of.data === undefined && of.isPending) return loading;
  return (
    <>
      <Failure error={of.error} retry={() => void of.refetch()} />
      {of.data !== undefined && children(of.data)}
    </>
  );
}

/** Placeholder in the form of a page's first rows. */
export function Loading() {
  return (
    <div role="status" aria-label="Loading…">
      <Skeleton height={28} mb="md" width="40%" />
      <Skeleton height={120} mb="md" />
      <Skeleton height={240} />
    </div>
  );
}
