import type { Socket } from 'node:net';
import { buildConnector, Client } from 'undici';
import type { Upstream } from '../../domain/catalog.ts';

/** How an upstream is reached, besides its address. */
export type Route = Pick<Upstream, 'ca' | 'proxy'>;

/** Maximum time for a connection, over all addresses of a name. */
const CONNECT_MS = 10_000;
/** Time of each address: by itself, Node gives 250 ms, in which a lost SYN is not sent again (after 1 s). */
const ADDRESS_MS = 2_500;

const TO_ADDRESS = {
  timeout: CONNECT_MS,
  autoSelectFamilyAttemptTimeout: ADDRESS_MS,
  allowH2: false,
  // An upstream or a proxy with an unverifiable certificate counts as unreachable, whatever the environment says.
  rejectUnauthorized: true,
};

/** Connector to one upstream, for all its connections, because it caches TLS sessions. `more`: options of its sockets. */
export function connectorOf(
  { ca, proxy }: Route,
  more: Partial<buildConnector.BuildOptions>,
): buildConnector.connector {
  const connect = buildConnector({ ...(ca === undefined ? {} : { ca }), ...TO_ADDRESS, ...more });
  if (proxy === undefined) return connect;
  return (options, callback) => {
    const { host = '', port } = options;
    tunnel(new URL(proxy), port ? host : `${host}:443`).then(
      (httpSocket) => connect({ ...options, httpSocket }, callback),
      (error: Error) => callback(error, null),
    );
  };
}

/** The proxy made no tunnel, so nothing was sent to the provider. */
class NoTunnel extends Error {
  /** As an address that refuses the connection. */
  readonly syscall = 'connect';
}

/** A connection through an HTTP proxy (RFC 9110, section 9.3.6). Rejects with NoTunnel. */
async function tunnel(proxy: URL, to: string): Promise<Socket> {
  const toProxy = buildConnector(TO_ADDRESS);
  const client = new Client(proxy.origin, {
    // The name for TLS is the proxy's, not that of the `host` header, which undici takes and which names the provider.
    connect: ({ servername: _provider, ...options }, callback) => toProxy(options, callback),
  });
  try {
    const signal = AbortSignal.timeout(CONNECT_MS);
    const headers = { host: to, ...authorization(proxy) };
    const { statusCode, socket } = await client.connect({ path: to, headers, signal });
    if (statusCode >= 200 && statusCode < 300) return socket as Socket;
    socket.on('error', () => {}).destroy();
    throw new Error(`it answered ${statusCode}`);
  } catch (error) {
    // Without undici's codes, some of which make it connect again for ever.
    throw new NoTunnel(`no connection by the proxy ${proxy.host}: ${(error as Error).message}`);
  } finally {
    void client.close();
  }
}

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const plain = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(plain).toString('base64')}` };
}
