import t from 'tap';
import type { Credentials } from '../../src/book/persons.ts';
import type { GatewayError } from '../../src/domain/errors.ts';
import { hasRightLength } from '../../src/domain/password-length.ts';
import { emailKey } from '../../src/domain/people.ts';
import { isPassword, Passwords } from '../../src/people/passwords.ts';
import { SignIn } from '../../src/people/sign-in.ts';

const PASSWORD = 'correct horse battery';
const passwords = new Passwords();
const passwordHash = await passwords.hash(PASSWORD, 'test');
const ADA: Credentials = {
  person: {
    id: 1,
    email: 'ada@example.com',
    name: 'Ada',
    isOperator: false,
    isActive: true,
    createdAt: 0,
    lastSeenAt: null,
  },
  passwordHash,
  isKnownNetwork: false,
};

/** A sign-in whose clock the test sets, and what its attempts end with. */
function signInAt(known: readonly string[] = []) {
  const clock = { now: 0 };
  const failed: (number | null)[] = [];
  const book = {
    credentials: async (email: string, network: string) =>
      emailKey(email) === ADA.person.email ? { ...ADA, isKnownNetwork: known.includes(network) } : undefined,
  };
  const signIn = new SignIn({ book, passwords }, () => clock.now);
  const codeOf = async (email: string, password: string, network: string) => {
    try {
      await signIn.check({ email, password, network }, async (id) => void failed.push(id));
      return 'ok';
    } catch (error) {
      const { code, retryAfterS } = error as GatewayError;
      return retryAfterS === undefined ? code : `${code} ${retryAfterS}`;
    }
  };
  return { clock, failed, codeOf };
}

t.test('the failures of a person leave one by one, a minute after each', async (t) => {
  const { clock, failed, codeOf } = signInAt();
  for (let at = 0; at < 10; at++) {
    clock.now = at * 1_000;
    t.equal(await codeOf('Ada@example.com', 'x', `network ${at}`), 'invalid_credentials');
  }
  t.same(failed, Array(10).fill(1));
  clock.now = 20_000;
  t.equal(await codeOf('ada@example.com', PASSWORD, 'another'), 'rate_limit_exceeded 40');
  clock.now = 60_000;
  t.equal(await codeOf('ada@example.com', 'x', 'another'), 'invalid_credentials');
  t.equal(await codeOf('ada@example.com', PASSWORD, 'another'), 'rate_limit_exceeded 1');
  clock.now = 61_000;
  t.equal(await codeOf('ada@example.com', PASSWORD, 'another'), 'ok');
});

t.test('attempts at once are no more than attempts in turn', async (t) => {
  const { codeOf } = signInAt();
  const wrong = Array.from({ length: 50 }, (_, at) =>
    codeOf('ada@example.com', 'wrong password', `network ${at}`),
  );
  const answers = await Promise.all(wrong);
  t.equal(answers.filter((answer) => answer === 'invalid_credentials').length, 10);
});

t.test('sign-ins that succeed count for nothing', async (t) => {
  const { codeOf } = signInAt();
  for (let at = 0; at < 12; at++) t.equal(await codeOf('ada@example.com', PASSWORD, 'home'), 'ok');
});

t.test('an unknown e-mail address has the same limits', async (t) => {
  const { failed, codeOf } = signInAt();
  for (let at = 0; at < 10; at++)
    t.equal(await codeOf('nobody@example.com', 'x', `network ${at}`), 'invalid_credentials');
  t.equal(await codeOf('nobody@example.com', 'x', 'another'), 'rate_limit_exceeded 60');
  t.same(failed, Array(10).fill(null));
});

t.test('a known network counts by itself, and not with others', async (t) => {
  const { codeOf } = signInAt(['home']);
  for (let at = 0; at < 10; at++) await codeOf('ada@example.com', 'x', 'away');
  t.match(await codeOf('ada@example.com', PASSWORD, 'away'), 'rate_limit_exceeded');
  for (let at = 0; at < 30; at++) await codeOf(`nobody-${at}@example.com`, 'x', 'home');
  t.equal(await codeOf('ada@example.com', PASSWORD, 'home'), 'ok');
});

t.test('a hash is salted, and compares in the same way where there is none', async (t) => {
  t.match(passwordHash, /^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}$/);
  t.not(await passwords.hash(PASSWORD, 'test'), passwordHash);
  t.equal(await isPassword(PASSWORD, passwordHash), true);
  t.equal(await isPassword(`${PASSWORD} `, passwordHash), false);
  t.equal(await isPassword(PASSWORD, null), false);
});

t.test('lengths are counted in characters', async (t) => {
  for (const right of ['x'.repeat(10), 'x'.repeat(200), '\u{1f511}'.repeat(10), '\u{1f511}'.repeat(200)])
    t.ok(hasRightLength(right));
  for (const wrong of ['', 'x'.repeat(9), 'x'.repeat(201), '\u{1f511}'.repeat(9), '\u{1f511}'.repeat(201)])
    t.notOk(hasRightLength(wrong));
});

t.test('at most four hashes are computed at once', async (t) => {
  let running = 0;
  let most = 0;
  const body = async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
  };
  await Promise.all(Array.from({ length: 20 }, (_, at) => passwords.inTurn(`network ${at % 7}`, body)));
  t.equal(most, 4);
});
