import type { Test } from 'tap';
import type { Behavior, ReceivedRequest } from '../stand-ins/scripted-provider.ts';
import type { MediaGateway } from '../start/media-gateway.ts';

export const PATH = '/v1/videos';
export const BODY = { model: 'film', prompt: 'A cat' };

export const create = (world: MediaGateway, key: string, body: object = {}) =>
  world.api('POST', PATH, key, { ...BODY, ...body });

/** Creates a job and resolves with its id. */
export async function made(world: MediaGateway, key: string, body: object = {}): Promise<string> {
  const response = await create(world, key, body);
  return ((await response.json()) as { id: string }).id;
}

/** Status and code of an answer as text, such as `404 object_not_found`. */
export const codeOf = async (response: Response) => {
  const { error } = (await response.json()) as { error?: { code?: string } };
  return `${response.status} ${error?.code}`;
};

/** Behavior of a provider whose jobs are in the state that the test sets. */
export function scripted(state: {
  status: string;
  polls?: (request: ReceivedRequest) => Behavior | undefined;
}) {
  return (request: ReceivedRequest): Behavior | undefined => {
    const isPoll = request.method === 'GET' && !request.url.includes('/content');
    const given = state.polls?.(request);
    if (given) return given;
    if (isPoll) return { body: { id: request.url.split('/').at(-1), object: 'video', status: state.status } };
    if (request.method === 'DELETE') return { body: { object: 'video.deleted', deleted: true } };
    return undefined;
  };
}

/** Number of entries of each type in the account's ledger. */
export async function counted(
  t: Test,
  world: MediaGateway,
  accountId: number,
  expected: Record<string, number>,
) {
  await world.settled();
  const entries = await world.book.ledger({ accountId, limit: 100 });
  const types: Record<string, number> = {};
  for (const { type } of entries) types[type] = (types[type] ?? 0) + 1;
  t.same(types, expected);
}
