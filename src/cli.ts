import { runCommand } from './cli/run.ts';

/** Entry of the command line `tollgate`, which bin/tollgate.mjs starts. */
await runCommand(process.argv.slice(2));
