import { test } from 'tap';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

test('an unknown model gets the names like it, of models that the key may call only', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  const { key: limited } = await world.account({ key: { allowedModels: ['tokens', 'claude-flat'] } });
  const suggested = async (model: string, token: string) => {
    const answer = await world.chat(token, { model });
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    t.same([answer.status, error.code], [404, 'model_not_found'], model);
    t.match(error.message, /GET \/v1\/models\.$/);
    return /Did you mean (.+)\?/.exec(error.message)?.[1];
  };
  for (const [model, ofAll, ofLimited] of [
    ['Flat', '"flat"', '"claude-flat"'],
    ['TOKENS', '"tokens"', '"tokens"'],
    ['token', '"tokens"', '"tokens"'],
    ['vendor/renamed', '"renamed"', undefined],
    ['cluade-flat', '"claude-flat"', '"claude-flat"'],
    ['gpt-5o', undefined, undefined],
    ['x', undefined, undefined],
    ['flat'.repeat(10_000), undefined, undefined],
  ] as const) {
    t.equal(await suggested(model, key), ofAll, model.slice(0, 20));
    t.equal(await suggested(model, limited), ofLimited, model.slice(0, 20));
  }
  const read = async (token: string) =>
    ((await (await world.api('GET', '/v1/models/Flat', token)).json()) as { error: { message: string } })
      .error.message;
  t.match(await read(key), /Did you mean "flat"\?/);
  t.match(await read(limited), /Did you mean "claude-flat"\?/);
});
