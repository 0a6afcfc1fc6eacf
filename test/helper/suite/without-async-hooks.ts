import asyncHooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded by test/run.ts before a test file: takes the hooks of asynchronous work from tap, which tells by them in which
 * test of the file a stray error was thrown. They run at each promise of a whole gateway: a tenth to a fifth of the
 * processor time of most files. A stray error ends the file instead, with its stack, and fails it.
 */
asyncHooks.createHook = () => {
  const hook: asyncHooks.AsyncHook = { enable: () => hook, disable: () => hook };
  return hook;
};
syncBuiltinESMExports();
