import t from 'tap';
import { pointerTo, readDocument, validatorOf } from '../helper/documented/api-document.ts';
import { startReceiver } from '../helper/stand-ins/receiver.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

t.test('the alert matches its description', async (t) => {
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ key: { webhookUrl: receiver.url } });
  const document = await readDocument(world.url);
  const validate = validatorOf(document);
  const at = ['webhooks', 'low_credits', 'post'] as const;
  const alert = document.webhooks.low_credits?.post;

  t.equal((await world.api('POST', '/api/account/alerts/test/', key)).status, 200);
  const { method, headers, body } = await receiver.next();
  t.equal(method, 'POST');
  const pointer = pointerTo(...at, 'requestBody', 'content', 'application/json', 'schema');
  t.equal(validate(pointer, JSON.parse(body)), undefined);
  for (const [index, { name }] of (alert?.parameters ?? []).entries()) {
    t.equal(
      validate(pointerTo(...at, 'parameters', String(index), 'schema'), headers[name]),
      undefined,
      name,
    );
  }
});
