import { once } from 'node:events';
import { pino } from 'pino';
import { ensureDemoAccount } from './demo-account.ts';
import { HangUps } from './hang-ups.ts';
import { loadConfig } from './load-config.ts';
import { Reloader } from './reload.ts';
import { type Served, serve } from './serve.ts';

/** Within this, a signal is the same one, come by another way. */
const REPEAT_MS = 1_000;

async function start(): Promise<Served> {
  const load = () => loadConfig({ env: process.env });
  const config = load();
  const logger = pino({ level: config.logLevel, base: null });
  const served = await serve(config, logger);
  if (process.env.TOLLGATE_DEMO === 'true') {
    const { book, ledger, url } = served;
    await ensureDemoAccount({ book, ledger: ledger.ledger, config: served.config, url });
  }
  const { replaceCatalog } = served;
  const reloader = new Reloader({ running: config, load, replaceCatalog, log: logger });
  hangUps.onReload = () => void reloader.reload();
  // Written past the logger: a supervisor waits for this line at any LOG_LEVEL.
  process.stdout.write(`${JSON.stringify({ msg: 'listening', url: served.url })}\n`);
  return served;
}

const hangUps = new HangUps();
const signal = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT'), hangUps.terminalGone]);
try {
  const served = await start();
  await signal;
  hangUps.onReload = () => {};
  // A second signal means now; but a signal to the whole group arrives twice.
  setTimeout(() => {
    process.once('SIGTERM', () => process.exit(1));
    process.once('SIGINT', () => process.exit(1));
  }, REPEAT_MS).unref();
  process.on('SIGTERM', () => {});
  process.on('SIGINT', () => {});
  await served.close();
} catch (error) {
  // One clear line (contract section 1, "Refusal to start").
  process.stderr.write(`tollgate: ${(error as Error).message}\n`);
  process.exit(1);
}
process.exit(0);
