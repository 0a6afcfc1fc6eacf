import t from 'tap';
import type { CreatedKeyView, KeyListView, KeyView } from '../../../src/api/keys/key-view.ts';
import { type Api, apiOf, refusalOf } from '../../helper/clients/api.ts';
import { memberOf } from '../../helper/clients/people.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const operator = apiOf(world, ADMIN_TOKEN);
const KEYS = '/api/keys/';
const NOT_PERMITTED = [403, 'not_permitted'];

const codeOf = (answer: Parameters<typeof refusalOf>[0]) => refusalOf(answer).slice(0, 2);
const keyPath = ({ id }: { readonly id: number }) => `${KEYS}${id}/`;

/** An account with a managing key, an admin and a member. */
async function staffed(more: Readonly<Record<string, unknown>> = {}) {
  const account = await world.account();
  const { accountId, key } = account;
  const admin = await memberOf(world, accountId, 'admin');
  const member = await memberOf(world, accountId, 'member', more);
  return { ...account, managing: apiOf(world, key), admin, member };
}

async function make(api: Api, body: object): Promise<CreatedKeyView> {
  const made = await api.post<CreatedKeyView>(KEYS, body);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body;
}

async function viewOf(api: Api, id: number): Promise<KeyView> {
  const { body } = await api.get<KeyListView>(KEYS);
  const found = body.keys.find((key) => key.id === id);
  if (!found) throw new Error(`no key ${id}`);
  return found;
}

t.test('keys that a member makes are theirs, and they see no others', async (t) => {
  const { accountId, keyId, managing, admin, member } = await staffed();
  const mine = await make(member, { name: 'mine' });
  t.match(await viewOf(member, mine.id), {
    person_id: member.id,
    can_manage: false,
    restrictions_locked: false,
    webhook_url: '',
  });
  t.equal((await world.chat(mine.key)).status, 200);
  t.same(
    (await member.get<KeyListView>(KEYS)).body.keys.map(({ id }) => id),
    [mine.id],
  );
  const ofAccount = await make(admin, { name: 'for all' });
  t.match(await viewOf(admin, ofAccount.id), { person_id: null, restrictions_locked: false });
  const other = await memberOf(world, accountId, 'member');
  const theirs = await make(other, { name: 'theirs' });
  for (const id of [keyId, ofAccount.id, theirs.id]) {
    const path = `${KEYS}${id}/`;
    t.same(codeOf(await member.patch(path, { name: 'x' })), [404, 'key_not_found']);
    t.same(codeOf(await member.delete(path)), [404, 'key_not_found']);
    t.same(codeOf(await member.post(`${path}rotate/`, {})), [404, 'key_not_found']);
    t.same(codeOf(await member.post(`${path}rotate/`, { end_grace: true })), [404, 'key_not_found']);
  }
  t.equal((await managing.get<KeyListView>(KEYS)).body.keys.length, 4);
});

t.test('a member makes keys for nobody else, and none without can_create_keys', async (t) => {
  const { managing, admin, member } = await staffed();
  for (const person_id of [admin.id, null]) {
    t.same(codeOf(await member.post(KEYS, { name: 'x', person_id })), NOT_PERMITTED);
  }
  t.same(codeOf(await member.post(KEYS, { name: 'x', restrictions_locked: true })), NOT_PERMITTED);
  t.equal((await member.post(KEYS, { name: 'x', person_id: member.id })).status, 201);
  await managing.patch(`/api/account/members/${member.id}/`, { can_create_keys: false });
  t.same(codeOf(await member.post(KEYS, { name: 'x' })), NOT_PERMITTED);
  const { accountId } = await world.account();
  const owner = await memberOf(world, accountId, 'owner', { can_create_keys: false });
  t.equal((await owner.post(KEYS, { name: 'x' })).status, 201, 'it binds the role member alone');
});

t.test(
  'owners, admins, managing keys and the operator make keys for any active member, locked',
  async (t) => {
    const { accountId, managing, admin, member } = await staffed();
    const admins = `/api/admin/accounts/${accountId}/keys/`;
    for (const one of [managing, admin]) {
      const { id } = await make(one, { name: 'theirs', person_id: member.id });
      t.match(await viewOf(member, id), {
        person_id: member.id,
        can_manage: false,
        restrictions_locked: true,
      });
    }
    const made = await operator.post<CreatedKeyView>(admins, { name: 'o', person_id: member.id });
    t.match(await viewOf(member, made.body.id), { restrictions_locked: true });
    const open = await make(admin, { name: 'open', person_id: member.id, restrictions_locked: false });
    t.match(await viewOf(member, open.id), { restrictions_locked: false });
    const own = await make(admin, { name: 'own', person_id: admin.id });
    t.match(await viewOf(admin, own.id), { person_id: admin.id, restrictions_locked: false });
    const stranger = await memberOf(world, (await world.account()).accountId, 'member');
    const unknown = await admin.post(KEYS, { name: 'x', person_id: stranger.id });
    t.same(codeOf(unknown), [404, 'member_not_found']);
    await admin.patch(`/api/account/members/${member.id}/`, { is_active: false });
    for (const [one, path] of [
      [admin, KEYS],
      [operator, admins],
    ] as const) {
      const refused = await one.post(path, { name: 'x', person_id: member.id });
      t.same(codeOf(refused), [409, 'member_inactive']);
    }
    const patched = await admin.patch(keyPath(own), { person_id: member.id });
    t.same(refusalOf(patched), [400, 'invalid_field', 'person_id'], 'a key never changes hands');
  },
);

t.test("a person's key never manages and has no webhook", async (t) => {
  const { admin, member } = await staffed();
  const mine = await make(member, { name: 'mine' });
  for (const [field, value] of [
    ['can_manage', true],
    ['webhook_url', 'https://hooks.example.com/'],
  ] as const) {
    const refused = [400, 'invalid_field', field];
    t.same(refusalOf(await member.post(KEYS, { name: 'x', [field]: value })), refused);
    t.same(refusalOf(await admin.post(KEYS, { name: 'x', person_id: member.id, [field]: value })), refused);
    for (const one of [member, admin])
      t.same(refusalOf(await one.patch(keyPath(mine), { [field]: value })), refused);
  }
  t.equal((await member.patch(keyPath(mine), { can_manage: false, webhook_url: '' })).status, 200);
  const refused = await apiOf(world, mine.key).get('/api/account/');
  t.same(codeOf(refused), [403, 'management_not_allowed']);
});

t.test('members set the restrictions of their keys, unless these are locked', async (t) => {
  const { admin, member } = await staffed();
  const mine = await make(member, { name: 'mine' });
  const path = keyPath(mine);
  const limited = { spending_limit: 2, allowed_models: ['flat'], is_active: true };
  t.match((await member.patch<KeyView>(path, limited)).body, { ...limited, restrictions_locked: false });
  t.same(codeOf(await member.patch(path, { restrictions_locked: true })), NOT_PERMITTED);
  t.match((await admin.patch<KeyView>(path, { name: 'renamed' })).body, { restrictions_locked: false });
  const raised = await admin.patch<KeyView>(path, { spending_limit: null });
  t.match(raised.body, { restrictions_locked: false }, 'lifting is not restricting');
  const open = await admin.patch<KeyView>(path, { rpm_limit: 9, restrictions_locked: false });
  t.match(open.body, { rpm_limit: 9, restrictions_locked: false });
  t.match((await admin.patch<KeyView>(path, { rpm_limit: 5 })).body, { restrictions_locked: true });
  for (const change of [{ rpm_limit: null }, { is_active: false }, { restrictions_locked: false }]) {
    t.same(codeOf(await member.patch(path, change)), NOT_PERMITTED, JSON.stringify(change));
  }
  const note = { name: 'mine again', description: 'a note', rpm_limit: 5 };
  t.match(
    await member.patch(path, note),
    { status: 200, body: note },
    'fields that do not change may be sent',
  );
  t.equal((await member.post(`${path}rotate/`, { grace_seconds: 60 })).status, 200);
  t.equal((await member.post(`${path}rotate/`, { end_grace: true })).status, 200);
  t.equal((await member.delete(path)).status, 200);
  t.same(codeOf(await member.patch(path, { is_active: true })), NOT_PERMITTED);
  t.match((await admin.patch<KeyView>(path, { is_active: true })).body, { restrictions_locked: true });
});

t.test('a key that an owner or admin deactivates stays so', async (t) => {
  const { admin, managing, member } = await staffed();
  for (const [one, end] of [
    [admin, (path: string) => admin.delete(path)],
    [managing, (path: string) => managing.patch(path, { is_active: false })],
  ] as const) {
    const mine = await make(member, { name: 'mine' });
    t.equal((await end(keyPath(mine))).status, 200);
    t.same(codeOf(await member.patch(keyPath(mine), { is_active: true })), NOT_PERMITTED);
    t.equal((await one.patch(keyPath(mine), { is_active: true, restrictions_locked: false })).status, 200);
    t.equal((await member.delete(keyPath(mine))).status, 200);
    t.equal(
      (await member.patch(keyPath(mine), { is_active: true })).status,
      200,
      'their own deletion they undo',
    );
  }
});

t.test('a change of role leaves keys, and what the person may do with them follows the role', async (t) => {
  const { admin, managing, member } = await staffed();
  const mine = await make(member, { name: 'mine' });
  await managing.patch(`/api/account/members/${member.id}/`, { role: 'viewer' });
  t.equal((await world.chat(mine.key)).status, 200);
  t.same(codeOf(await member.patch(keyPath(mine), { name: 'x' })), NOT_PERMITTED);
  t.same(codeOf(await member.post(KEYS, { name: 'x' })), NOT_PERMITTED);
  t.equal((await member.get<KeyListView>(KEYS)).body.keys.length, 2, 'a viewer sees all');
  t.equal((await admin.patch(keyPath(mine), { name: 'y' })).status, 200);
});

t.test("a member's spending limits bind all their keys together, at once and when they return", async (t) => {
  const { managing, member } = await staffed({ spending_limits: [{ period: 'total', credits: 2 }] });
  const [one, two] = [await make(member, { name: 'one' }), await make(member, { name: 'two' })];
  t.equal((await world.chat(one.key)).status, 200);
  t.equal((await world.chat(two.key)).status, 200);
  const refused = await world.chat(one.key);
  t.equal(refused.status, 402);
  t.match(await refused.json(), { error: { metadata: { limit: { of: 'member', period: 'total' } } } });
  const path = `/api/account/members/${member.id}/`;
  await managing.patch(path, { spending_limits: [{ period: 'total', credits: 3 }] });
  t.equal((await world.chat(two.key)).status, 200);
  t.equal((await world.chat(one.key)).status, 402);
  await managing.patch(path, { is_active: false });
  await managing.patch(path, { is_active: true });
  await managing.patch(keyPath(one), { is_active: true });
  t.equal((await world.chat(one.key)).status, 402, 'windows go on');
});

t.test('a locked key of a person rotates itself', async (t) => {
  const { member, managing } = await staffed();
  const mine = await make(member, { name: 'mine' });
  await managing.patch(keyPath(mine), { restrictions_locked: true });
  const rotated = await apiOf(world, mine.key).post<CreatedKeyView>('/api/key/rotate/', {});
  t.match([rotated.status, rotated.body.id], [200, mine.id]);
  t.match(await viewOf(member, mine.id), { person_id: member.id, restrictions_locked: true });
  t.equal((await world.chat(rotated.body.key)).status, 200);
});
