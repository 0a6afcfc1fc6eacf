import type { Test } from 'tap';
import type { Book } from '../../src/book/book.ts';
import { INVITATION_MS, type NewInvitation } from '../../src/book/invitations.ts';
import { COMMAND_LINE } from '../../src/domain/actor.ts';
import { micro } from '../../src/domain/credits.ts';
import { GIVEN_BY_ADMINS, ROLES, type Role } from '../../src/domain/roles.ts';
import { rejection } from '../helper/check/rejection.ts';
import { NOW, newKey, stored } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

const ANY = { by: COMMAND_LINE, roles: new Set<Role>(ROLES) };
const FROM = { ip: null, requestId: null };
const LIMITS = [{ period: 'monthly', credits: micro(5) }] as const;
let serial = 0;

function invitation(role: Role, more: Partial<NewInvitation> = {}): NewInvitation {
  const secretHash = `hash ${++serial}`;
  return { role, email: null, name: null, canCreateKeys: true, spendingLimits: [], secretHash, ...more };
}

/** A new person who accepts an invitation. */
const newcomer = () => ({
  newPerson: { email: `p${++serial}@example.com`, name: 'P', passwordHash: null, isOperator: false },
});

/** The person with an id, which exists. */
async function personOf(book: Book, id: number) {
  const person = await book.person(id);
  if (!person) throw new Error(`no person ${id}`);
  return person;
}

/** Adds a new person to an account. Resolves with the person's id. */
async function join(book: Book, accountId: number, role: Role, more: Partial<NewInvitation> = {}) {
  const wanted = invitation(role, more);
  await book.createInvitation(accountId, wanted, ANY, NOW);
  return (await book.acceptInvitation(wanted.secretHash, newcomer(), FROM, NOW)).personId;
}

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return ((await rejection(promise)) as { code?: unknown }).code;
}

/** Settles all, and returns how many succeeded, and the codes of the others. */
async function outcomes(promises: readonly Promise<unknown>[]) {
  const settled = await Promise.allSettled(promises);
  return {
    done: settled.filter(({ status }) => status === 'fulfilled').length,
    codes: settled.flatMap((one) =>
      one.status === 'rejected' ? [(one.reason as { code: string }).code] : [],
    ),
  };
}

async function keyOf(book: Book, accountId: number, personId: number) {
  return await book.createKey(accountId, newKey({ personId, canManage: false }), NOW);
}

async function sessionOf(book: Book, personId: number): Promise<string> {
  const secretHash = `session ${++serial}`;
  const session = { personId, secretHash, network: '', userAgent: null };
  await book.createSession(session, COMMAND_LINE, NOW);
  return secretHash;
}

const changes = [
  {
    name: 'removed',
    change: (book: Book, accountId: number, id: number) => book.removeMember(accountId, id, ANY, NOW),
  },
  {
    name: 'deactivated',
    change: (book: Book, accountId: number, id: number) =>
      book.updateMember(accountId, id, { isActive: false }, ANY, NOW),
  },
  {
    name: 'given another role',
    change: (book: Book, accountId: number, id: number) =>
      book.updateMember(accountId, id, { role: 'admin' }, ANY, NOW),
  },
];

eachBook('of two owners who are changed at once one stays', async (t, book) => {
  for (const { name, change } of changes) {
    const { account } = await stored(book);
    const owners = [await join(book, account.id, 'owner'), await join(book, account.id, 'owner')];
    const { done, codes } = await outcomes(owners.map((id) => change(book, account.id, id)));
    t.same([done, codes], [1, ['last_owner']], name);
  }
});

eachBook('a membership that ends takes keys along, whoever activates one at the time', async (t, book) => {
  const { account } = await stored(book);
  for (const { name, change } of changes.slice(0, 2)) {
    const id = await join(book, account.id, 'member');
    const [key, other] = [await keyOf(book, account.id, id), await keyOf(book, account.id, id)];
    await book.updateKey(account.id, key.id, { isActive: false }, NOW);
    await Promise.allSettled([
      book.updateKey(account.id, key.id, { isActive: true }, NOW),
      keyOf(book, account.id, id),
      change(book, account.id, id),
      book.updateKey(account.id, key.id, { isActive: true }, NOW),
      keyOf(book, account.id, id),
    ]);
    const keys = await book.keys(account.id, 0, undefined, { personId: id });
    t.ok(keys.some((one) => one.id === other.id) && keys.every(({ isActive }) => !isActive), name);
    t.equal(await codeOf(book.updateKey(account.id, key.id, { isActive: true }, NOW)), 'member_inactive');
    t.equal(await codeOf(keyOf(book, account.id, id)), 'member_inactive');
  }
});

eachBook(
  'a deactivated key of a member loses its previous value, and rises by one version',
  async (t, book) => {
    const { account } = await stored(book);
    const id = await join(book, account.id, 'member');
    const key = await keyOf(book, account.id, id);
    const value = { hash: 'b'.repeat(64), prefix: 'sk-tg-bbbb', previousValidUntil: NOW + 60_000 };
    await book.rotateKey(account.id, key.id, value, NOW);
    const ended = await book.updateMember(account.id, id, { isActive: false }, ANY, NOW);
    t.match(ended?.keys, [{ id: key.id, isActive: false, previousHash: null, version: 3 }]);
    t.same((await book.unpublished(10)).keys.map(({ id, version }) => [id, version]).at(-1), [key.id, 3]);
  },
);

eachBook('sessions end with the last active membership, of two that end at once too', async (t, book) => {
  const [one, two] = [(await stored(book)).account, (await stored(book)).account];
  const id = await join(book, one.id, 'member');
  const wanted = invitation('viewer');
  await book.createInvitation(two.id, wanted, ANY, NOW);
  const person = await personOf(book, id);
  await book.acceptInvitation(wanted.secretHash, { person }, FROM, NOW);
  const secretHash = await sessionOf(book, id);
  await book.updateMember(one.id, id, { isActive: false }, ANY, NOW);
  t.match(await book.session(secretHash, NOW), { memberships: [{ accountId: two.id }] });
  await book.updateMember(one.id, id, { isActive: true }, ANY, NOW);
  await Promise.all([book.removeMember(one.id, id, ANY, NOW), book.removeMember(two.id, id, ANY, NOW)]);
  t.equal(await book.session(secretHash, NOW), undefined);
  t.ok(await book.session(await sessionOf(book, id), NOW), 'who signs in then has a session');
});

eachBook('limits of a membership are those of its keys, also of one that returns', async (t, book) => {
  const { account } = await stored(book);
  const id = await join(book, account.id, 'member', { spendingLimits: LIMITS });
  const key = await keyOf(book, account.id, id);
  t.same(key.memberSpendingLimits, LIMITS);
  const changed = await book.updateMember(account.id, id, { spendingLimits: [] }, ANY, NOW);
  t.match(changed?.keys, [{ id: key.id, memberSpendingLimits: [], version: 2 }]);
  const both = await book.updateMember(account.id, id, { spendingLimits: LIMITS, isActive: false }, ANY, NOW);
  t.match(both?.keys, [{ memberSpendingLimits: LIMITS, isActive: false, version: 4 }], 'one record a key');
  await book.removeMember(account.id, id, ANY, NOW);
  const wanted = invitation('member');
  await book.createInvitation(account.id, wanted, ANY, NOW);
  const person = await personOf(book, id);
  const { keys } = await book.acceptInvitation(wanted.secretHash, { person }, FROM, NOW);
  t.match(keys, [{ id: key.id, memberSpendingLimits: [], isActive: false }]);
});

eachBook('roles are given and taken as the changer may, whatever they became meanwhile', async (t, book) => {
  const { account } = await stored(book);
  await join(book, account.id, 'owner');
  const [admin, member] = [await join(book, account.id, 'admin'), await join(book, account.id, 'member')];
  const some = { by: COMMAND_LINE, roles: GIVEN_BY_ADMINS };
  const { codes } = await outcomes([
    book.updateMember(account.id, admin, { isActive: false }, some, NOW),
    book.updateMember(account.id, member, { role: 'owner' }, some, NOW),
    book.removeMember(account.id, admin, some, NOW),
    book.createInvitation(account.id, invitation('admin'), some, NOW),
  ]);
  t.same(codes, Array(4).fill('not_permitted'));
  t.equal(await book.updateMember(account.id, 999, {}, ANY, NOW), undefined);
  t.equal(await book.removeMember(account.id, 999, ANY, NOW), undefined);
});

eachBook('an invitation is used once, by one of many at once, for 7 days', async (t, book) => {
  const { account } = await stored(book);
  const wanted = invitation('viewer');
  const { id } = await book.createInvitation(account.id, wanted, ANY, NOW);
  const accept = (now = NOW) => book.acceptInvitation(wanted.secretHash, newcomer(), FROM, now);
  t.equal(await codeOf(accept(NOW + INVITATION_MS)), 'invitation_gone');
  t.equal(await book.invitationOf(wanted.secretHash, NOW + INVITATION_MS), undefined);
  t.match(await book.invitationOf(wanted.secretHash, NOW + INVITATION_MS - 1), {
    account: { id: account.id },
  });
  const { done, codes } = await outcomes([
    accept(),
    accept(),
    accept(),
    book.withdrawInvitation(account.id, id, ANY, NOW),
  ]);
  t.ok(done <= 2 && codes.every((code) => code === 'invitation_gone'), JSON.stringify({ done, codes }));
  t.ok((await book.members(account.id)).length <= 1);
  await onlyOneMembership(t, book);
});

async function onlyOneMembership(t: Test, book: Book): Promise<void> {
  const { account } = await stored(book);
  const { account: other } = await stored(book);
  const person = await personOf(book, await join(book, other.id, 'member'));
  const two = [invitation('viewer'), invitation('owner')];
  for (const one of two) await book.createInvitation(account.id, one, ANY, NOW);
  const accepted = two.map(({ secretHash }) => book.acceptInvitation(secretHash, { person }, FROM, NOW));
  t.same(await outcomes(accepted), { done: 1, codes: ['already_member'] });
  t.equal((await book.invitations(account.id, NOW)).length, 1, 'the refused invitation stays open');
}

eachBook('keys of a person are listed in pages', async (t, book) => {
  const { account } = await stored(book);
  const id = await join(book, account.id, 'member');
  const made = [];
  for (let one = 0; one < 3; one++) {
    made.push((await keyOf(book, account.id, id)).id);
    await book.createKey(account.id, newKey(), NOW);
  }
  const page = async (after: number, limit?: number) =>
    (await book.keys(account.id, after, limit, { personId: id })).map((key) => key.id);
  t.same(await page(0), made);
  t.same(await page(made[0] ?? 0, 1), [made[1]]);
});
