import type { Test } from 'tap';
import { sendRaw } from '../clients/raw-http.ts';
import { type InProcessGateway, startGatewayInProcess, type TestAccount } from './gateway-in-process.ts';

/** A gateway for requests of raw bytes, and the account whose key they carry. */
export interface EdgeGateway extends InProcessGateway {
  readonly owner: TestAccount;
  /** The header lines Host and Authorization. */
  readonly head: string;
}

export type Row = readonly [
  name: string,
  bytes: (head: string) => string | Buffer,
  status: number,
  code?: string,
];

/** A valid body, so that it is never the reason for a refusal. */
export const BODY = '{"model":"flat","messages":[]}';
export const LENGTH = `Content-Length: ${BODY.length}\r\n`;
export const CHUNKED = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
export const POST = 'POST /v1/chat/completions HTTP/1.1\r\n';

export async function startEdgeGateway(
  t: Test,
  options: Parameters<typeof startGatewayInProcess>[1] = {},
): Promise<EdgeGateway> {
  const world = await startGatewayInProcess(t, { behave: () => undefined, ...options });
  const owner = await world.account();
  return { ...world, owner, head: `Host: gateway.test\r\nAuthorization: Bearer ${owner.key}\r\n` };
}

/**
 * Sends the bytes of each row. Checks status, code and shape of the answer; that nothing reached the upstream or the
 * ledger and nothing is held; and that the gateway answers the next call.
 */
export async function refuseRows(t: Test, world: EdgeGateway, rows: readonly Row[]): Promise<void> {
  for (const [name, bytes, status, code = 'invalid_request'] of rows) {
    await t.test(name, async (t) => {
      const before = world.provider.requests.length;
      const answer = await sendRaw(world.url, bytes(world.head));
      t.equal(answer?.status, status);
      t.match(answer?.headers.get('x-request-id'), /^.{8,}$/);
      t.match(JSON.parse(answer?.body || '{}'), { error: { code, message: /\w/ } });
      t.equal(world.provider.requests.length, before, 'nothing reached the upstream');
    });
  }
  t.equal((await world.chat(world.owner.key)).status, 200, 'the process lives');
  await world.settled();
  const entries = await world.book.ledger({ accountId: world.owner.accountId, limit: 1_000 });
  t.equal(entries.filter(({ type }) => type === 'charge').length, world.provider.requests.length);
  t.match(await world.ledger.ledger.account(world.owner.accountId), { held: 0 });
}
