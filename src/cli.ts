import { runCommand } from './cli/run.ts';

/** Entry of the `tollgate` command, started by bin/tollgate.mjs. */
await runCommand(process.argv.slice(2));
