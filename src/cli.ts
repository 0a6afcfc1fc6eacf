import { runCommand } from './cli/run.ts';

/** The command line `tollgate`; bin/tollgate.mjs gets here. */
await runCommand(process.argv.slice(2));
