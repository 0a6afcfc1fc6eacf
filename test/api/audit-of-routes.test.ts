import t from 'tap';
import { type Described, operationsOf, readDocument } from '../helper/documented/api-document.ts';
import { CALLS } from '../helper/documented/documented-calls.ts';
import { startDocumentedGateway } from '../helper/documented/documented-gateway.ts';
import { bodiesOf, requestOf, schemesOf, send } from '../helper/documented/documented-request.ts';

/** Operations that change nothing, though their method is not GET. */
const READING: ReadonlySet<string> = new Set([
  // What a call would get.
  'explainKey',
  'explainKeyOfAccount',
  // What an invitation offers. Only the body can name it, because addresses are logged.
  'lookAtInvitation',
  // Where the browser goes. What comes of it changes something once it is back.
  'useProvider',
]);

/** Audit entries of operations that make several changes; all others leave one. */
const SEVERAL: Readonly<Record<string, number>> = {
  // Account, credits, and the first key.
  createAccount: 3,
  // Person, invitation, and session.
  acceptInvitation: 3,
  // Person and session.
  setUp: 2,
};

const world = await startDocumentedGateway(t);
const caller = await world.account();
const operations = operationsOf(await readDocument(world.url));
const newest = async () => (await world.book.auditEntries({ limit: 1 }))[0]?.id ?? 0;

for (const operation of operations.filter(isChange)) {
  const { name, operationId = '' } = operation;
  const entries = READING.has(operationId) ? 0 : (SEVERAL[operationId] ?? 1);
  t.test(`${name} leaves ${entries} in the audit log`, async (t) => {
    const [call = {}] = CALLS[operationId] ?? [];
    const [[, body] = []] = bodiesOf(operation);
    const request = await requestOf({ world, caller }, operation, call, schemesOf(operation).at(-1), body);
    const before = await newest();
    const response = await send(world.url, operation, request);
    t.ok(response.ok, `${response.status} ${await response.text()}`);
    const added = await world.book.auditEntries({ limit: (await newest()) - before + 1 });
    const actions = added.filter(({ id }) => id > before).map(({ action }) => action);
    t.equal(actions.length, entries, actions.join(', '));
  });
}

function isChange({ method, path }: Described): boolean {
  return method !== 'GET' && path.startsWith('/api/');
}

t.test('every operation of an account says which roles of people may call it', async (t) => {
  for (const { name, path, security = [], description } of operations) {
    const schemes = security.flatMap((scheme) => Object.keys(scheme));
    const isOfAccount = schemes.includes('session') && schemes.includes('apiKey');
    if (isOfAccount) t.match(description, / Roles of people: \w/, name);
    else t.notMatch(description ?? '', /Roles of people:/, name);
    t.equal(isOfAccount, /^\/api\/(keys|account)\//.test(path), `${name}: who may call it`);
  }
});
