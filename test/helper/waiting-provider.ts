import type { Test } from 'tap';
import { startScriptedProvider } from './scripted-provider.ts';

/** Starts a provider that holds back its answers to bodies with `wait` in them until the test releases them. */
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
