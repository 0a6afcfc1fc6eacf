import type { Test } from 'tap';
import { DEMO_URL } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { NO_CALL_LIMITS } from '../../../src/domain/call-limits.ts';
import { micro } from '../../../src/domain/credits.ts';
import { oidcSettings } from '../fixtures/oidc-settings.ts';
import { startOidcProvider } from '../stand-ins/oidc-provider.ts';
import { startScriptedProvider } from '../stand-ins/scripted-provider.ts';
import { type InProcessGateway, startGatewayInProcess } from '../start/gateway-in-process.ts';

const CONFIG = new URL('../../../config/gateway.yaml', import.meta.url).pathname;
/** A small body limit, so that sending a larger body is fast. */
const BODY_LIMIT_BYTES = 2 * 1024 * 1024;
/** Time that a test waits for a stalled provider. A working provider needs only part of it, even on a busy machine. */
const HEADERS_TIMEOUT_MS = 2_000;
const REQUEST_TIMEOUT_MS = 3_000;

/**
 * Starts a gateway with the demo models of the shipped configuration, which the examples of the document name. The
 * header `x-provider` of a call has the provider's behavior in JSON. People sign in with passwords, or with `company`.
 */
export async function startDocumentedGateway(t: Test): Promise<InProcessGateway> {
  const provider = await startScriptedProvider({
    behave: ({ headers }) => JSON.parse(String(headers['x-provider'] ?? '{}')),
  });
  t.teardown(() => provider.close());
  const company = oidcSettings(await startOidcProvider(t), { name: 'company' });
  const { catalog, limits, server } = loadConfig({ env: { TOLLGATE_CONFIG: CONFIG } });
  const demo = [...catalog].filter(([, { upstream }]) => upstream.url === DEMO_URL);
  const passHeaders = ['x-provider'];
  return await startGatewayInProcess(t, {
    provider,
    config: {
      catalog: new Map(
        demo.map(([slug, model]) => [
          slug,
          { ...model, upstream: { ...model.upstream, url: provider.url, passHeaders } },
        ]),
      ),
      limits: {
        ...limits,
        headersTimeoutMs: HEADERS_TIMEOUT_MS,
        requestTimeoutMs: REQUEST_TIMEOUT_MS,
        readOnMs: 0,
      },
      // Every example and every refusal creates its own keys in one account: 526 in total, in an order that varies.
      accounts: { maxKeys: 1_000, maxKeyBytes: 33_554_432, overdraft: micro(0), ...NO_CALL_LIMITS },
      people: { passwords: true, auditDays: 400, oidc: [company] },
      server: {
        ...server,
        host: '127.0.0.1',
        port: 0,
        trustProxy: ['127.0.0.1/32'],
        bodyLimitBytes: BODY_LIMIT_BYTES,
      },
    },
  });
}
