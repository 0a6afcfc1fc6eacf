import type { Test } from 'tap';
import { startScriptedProvider } from './scripted-provider.ts';

/** A provider that holds back the answer to a body with `wait` in it until it is let go. */
export async function startWaitingProvider(t: Test) {
  const gate = Promise.withResolvers<void>();
  const provider = await startScriptedProvider({
    behave: async ({ body }) => {
      if (body.includes('wait')) await gate.promise;
      return undefined;
    },
  });
  t.teardown(() => provider.close());
  return { provider, letGo: gate.resolve };
}
