import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// As in main.ts; the rest is imported dynamically, because static imports are loaded before this line runs.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)));

/** Entry of the `tollgate` command, started by bin/tollgate.mjs. */
const { runCommand } = await import('./cli/run.ts');
await runCommand(process.argv.slice(2));
