import { test } from 'tap';
import { startUploadGateway } from '../helper/start/upload-gateway.ts';

const isLinux = process.platform === 'linux';
const CHAT = '/v1/chat/completions';

test('the largest requests of honest clients pass', { skip: !isLinux }, async (t) => {
  const world = await startUploadGateway(
    t,
    '  finds: { upstream: test, category: text, price: { request: 0.001 } }\n',
  );
  const call = (index: number) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: `call_${index}`, type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
      ],
    },
    { role: 'tool', tool_call_id: `call_${index}`, content: 'found '.repeat(100) },
  ];
  const messages = Array.from({ length: 5_000 }, (_, index) => call(index)).flat();
  const send = async (value: object, path: string) => {
    const response = await world.gateway.api('POST', path, world.key, value);
    await response.arrayBuffer();
    return response.status;
  };
  t.equal(await send({ model: 'sees', messages }, CHAT), 200, '10,000 messages with tools');
  const numbers = Array.from({ length: 300_000 }, (_, index) => (index * 7919) % 100_000);
  const embed = (input: unknown) => send({ model: 'finds', input }, '/v1/embeddings');
  t.equal(await embed(numbers), 200, '300,000 numbers of tokens');
  t.equal(await embed(Array.from({ length: 2_048 }, () => 'words '.repeat(500))), 200, '2,048 texts');
  const items = Array.from({ length: 5_000 }, (_, index) => [
    { type: 'function_call', call_id: `c${index}`, name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: `c${index}`, output: [{ type: 'input_text', text: 'x' }] },
  ]).flat();
  t.equal(await send({ model: 'sees', input: items }, '/v1/responses'), 200, '10,000 items');
});
