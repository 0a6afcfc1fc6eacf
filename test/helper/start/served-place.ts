import { type DestinationStream, pino } from 'pino';
import { loadConfig } from '../../../src/config/load.ts';
import { type Served, serve } from '../../../src/program/serve.ts';
import { requestsTo } from '../clients/requests.ts';
import { type GatewayProcess, type Place, PROGRAM_ENV } from './gateway-process.ts';
import type { Scope } from './scope.ts';

/** A gateway in the test's process. */
export type ServedPlace = Served & Pick<GatewayProcess, 'api' | 'chat'>;

/**
 * Starts a gateway from its environment and config file like the program, but in the test's process. Rejects with the
 * refusal, which the program prints. Without `log` nothing is logged.
 */
export async function servePlace(
  t: Scope,
  { env }: Pick<Place, 'env'>,
  log?: DestinationStream,
): Promise<ServedPlace> {
  const config = loadConfig({ env: { ...PROGRAM_ENV, ...env } });
  const served = await serve(config, log ? pino({ level: 'trace' }, log) : pino({ level: 'silent' }));
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= served.close();
    return closed;
  };
  t.teardown(close);
  return { ...served, close, ...requestsTo(served.url) };
}
