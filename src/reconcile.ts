import { runCommand } from './cli/run.ts';

/** `npm run reconcile` (contract section 7). */
await runCommand(['reconcile', ...process.argv.slice(2)]);
