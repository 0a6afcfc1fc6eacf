import { test } from 'tap';
import { faultsOf, operationsOf, readDocument, validatorOf } from '../helper/documented/api-document.ts';
import { startDocumentedGateway } from '../helper/documented/documented-gateway.ts';
import { testDocumentedOperations } from '../helper/documented/documented-operations.ts';

test('the operations of the tag Models match their description', (t) =>
  testDocumentedOperations(t, 'Models'));

test("a provider's own error is passed on as it is described", async (t) => {
  const world = await startDocumentedGateway(t);
  const { key } = await world.account();
  const document = await readDocument(world.url);
  const body = { model: 'demo-chat', messages: [] };
  const response = await world.chat(key, body, { 'x-provider': 'limits' });
  t.equal(response.status, 429);
  const [chat] = operationsOf(document).filter(({ operationId }) => operationId === 'createChatCompletion');
  t.same(chat && (await faultsOf(document, validatorOf(document), chat, response)), []);
});
