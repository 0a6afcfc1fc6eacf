import { resolve } from 'node:path';
import type { Command } from 'commander';

interface StartOptions {
  readonly config?: string;
  readonly data?: string;
  readonly host?: string;
  readonly port?: string;
  readonly demo?: true;
}

/** Command `tollgate start`, which runs the gateway as `node dist/main.js` does. Options set environment variables. */
export function startCommand(program: Command): void {
  program
    .command('start')
    .description('start the gateway with the settings of the environment and the configuration file')
    .option('--config <file>', 'configuration file; overrides TOLLGATE_CONFIG')
    .option('--data <folder>', 'data folder; overrides TOLLGATE_DATA')
    .option('--host <address>', 'address to listen on; overrides HOST')
    .option('--port <port>', 'port to listen on; overrides PORT; 0 picks a free one')
    .option('--demo', 'create a demo account on the first start and print its key, like npm start')
    .action(start);
}

async function start({ config, data, host, port, demo }: StartOptions): Promise<void> {
  const caller = process.env.INIT_CWD ?? '.';
  const given = {
    TOLLGATE_CONFIG: config && resolve(caller, config),
    TOLLGATE_DATA: data && resolve(caller, data),
    HOST: host,
    PORT: port,
    TOLLGATE_DEMO: demo && 'true',
  };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) process.env[name] = value;
  await import('../main.ts');
}
