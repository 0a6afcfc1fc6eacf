import type { Behaviour } from './behaviour.ts';
import type { Case, Ended, ScriptedGateway } from './broken-stream.ts';
import { ADMIN_TOKEN, type TestAccount } from './gateway-in-process.ts';
import { until } from './until.ts';

/** A call whose client leaves while its upstream waits, after so many pieces or before the head. */
export interface LeftCase {
  readonly path: string;
  readonly body: object;
  readonly behaviour: Behaviour;
  /** Where the upstream waits until the client has left, and what the client has by then, if not all of it. */
  readonly leaves: 'before the head' | { readonly after: number; readonly havingBytes?: number };
  /** Whose call it is; default: a new account's. */
  readonly account?: TestAccount;
  /** What is done while the answer is read on. */
  readonly meanwhile?: () => Promise<unknown>;
}

/** Runs the call to its end: its client leaves, the gateway has noticed, the upstream goes on. */
export async function endLeft(world: ScriptedGateway, call: LeftCase): Promise<Ended> {
  const gone = Promise.withResolvers<void>();
  const { leaves, path, body, behaviour, account, meanwhile = async () => {} } = call;
  const pieces = leaves === 'before the head' ? ('nothing' as const) : leaves.after;
  const ending = world.end({
    path,
    body: JSON.stringify(body),
    behaviour: { ...behaviour, waitAfter: { pieces, until: gone.promise } },
    leave: leaveOf(call),
    account,
  });
  await until('the call to be read on', async () => (await readOn(world)) === 1);
  await meanwhile();
  gone.resolve();
  return await ending;
}

function leaveOf({ leaves, behaviour: { body } }: LeftCase): NonNullable<Case['leave']> {
  if (leaves === 'before the head') return 'sent';
  const first = Array.isArray(body) ? body.slice(0, leaves.after).join('') : '';
  const bytes = leaves.havingBytes ?? Buffer.byteLength(first);
  return (text) => text.length >= bytes;
}

/** Number of calls that are read on after their client left. */
export async function readOn(world: Pick<ScriptedGateway, 'api'>): Promise<number> {
  const text = await (await world.api('GET', '/metrics', ADMIN_TOKEN)).text();
  return Number(/^tollgate_calls_read_on (\d+)/m.exec(text)?.[1]);
}
