import type { Test } from 'tap';

/** Records the delay, in milliseconds, of every timer that starts between this call and the test's end. */
export function timerDelays(t: Test): readonly (number | undefined)[] {
  const delays: (number | undefined)[] = [];
  const start = globalThis.setTimeout;
  globalThis.setTimeout = ((run: () => void, ms?: number) => {
    delays.push(ms);
    return start(run, ms);
  }) as typeof setTimeout;
  t.teardown(() => {
    globalThis.setTimeout = start;
  });
  return delays;
}
