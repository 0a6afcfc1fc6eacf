import asyncHooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

/**
 * test/run.ts loads this before a test file. It disables tap's async hooks, which attribute a stray error to a test.
 * They run for every promise of a whole gateway and take a tenth to a fifth of the processor time of most files.
 * Without them, a stray error ends and fails the file, with its stack.
 */
asyncHooks.createHook = () => {
  const hook: asyncHooks.AsyncHook = { enable: () => hook, disable: () => hook };
  return hook;
};
syncBuiltinESMExports();
