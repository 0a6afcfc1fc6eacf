import {
  QueryClient,
  queryOptions,
  type UseMutationResult,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { ApiFailure } from './api-failure.ts';
import { ask } from './client.ts';

/** Answers are shown again at once when a page is returned to, and asked for again behind it. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A failure is shown with a button at once; only a gateway that is away is tried again.
      retry: (count, error) => error instanceof ApiFailure && error.status === 0 && count < 1,
      refetchOnWindowFocus: false,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

/** Time between two reads of what changes by itself, such as attention and lists that are live. */
export const POLL_MS = 15_000;

/** Whose data is asked for: a scope of session/scope.ts. */
interface Asker {
  readonly path: string;
  readonly accountHeader: number | undefined;
}

/**
 * Query that reads a path of the API: `useQuery(read<AccountView>(scope, scope.api))`. The same path in the same scope
 * is read once, however many components show it.
 */
export function read<Body>(scope: Asker | undefined, path: string) {
  return queryOptions({
    queryKey: [scope?.path ?? '', path],
    queryFn: ({ signal }) => ask<Body>(path, { signal, account: scope?.accountHeader }),
  });
}

/**
 * Change that the user makes. When it is made, everything on the page is read again, so that no figure stays behind.
 */
export function useChange<Input = void, Output = unknown>(
  change: (input: Input) => Promise<Output>,
): UseMutationResult<Output, Error, Input> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => void client.invalidateQueries(),
  });
}
