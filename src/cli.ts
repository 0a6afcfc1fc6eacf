import { PROCESS_IO } from './cli/io.ts';
import { runCommand } from './cli/run.ts';

// Entry of the `tollgate` command, started by bin/tollgate.mjs.

// `| head` closes the pipe after enough lines; not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
process.exitCode = await runCommand(process.argv.slice(2), PROCESS_IO);
