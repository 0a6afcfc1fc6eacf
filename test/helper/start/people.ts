import type { NewPerson } from '../../../src/book/persons.ts';
import { COMMAND_LINE } from '../../../src/domain/actor.ts';
import type { Person } from '../../../src/domain/people.ts';
import { Passwords } from '../../../src/people/passwords.ts';
import { newSecret } from '../../../src/people/sessions.ts';
import { apiOf } from '../clients/api.ts';
import { Browser, PASSWORD } from '../clients/browser.ts';
import { ADMIN_TOKEN } from '../clients/requests.ts';
import type { InProcessGateway } from './gateway-in-process.ts';

let people = 0;

/** E-mail address of nobody so far. */
export function newEmail(): string {
  people++;
  return `person-${people}@example.com`;
}

const HASHED = new Passwords().hash(PASSWORD, 'test');

/** Creates a person with the password PASSWORD, by links as the command line makes them. */
export async function personOn(
  { book }: Pick<InProcessGateway, 'book'>,
  { email = newEmail(), name = 'Ada', isOperator = false }: Partial<NewPerson> = {},
): Promise<Person> {
  const { hash } = newSecret();
  const from = { ip: null, requestId: null };
  const passwordHash = await HASHED;
  const now = Date.now();
  if (isOperator) {
    await book.createSetupLink(email, hash, COMMAND_LINE, now);
    const made = await book.setUp({ hash, isOfProcess: false }, { email, name, passwordHash }, from, now);
    if (!made) throw new Error('the link was not accepted');
    return made;
  }
  const { id } = await book.createPerson(email, hash, COMMAND_LINE, now);
  await book.useResetLink(hash, passwordHash, from, now);
  const changed = await book.updatePerson(id, { name }, COMMAND_LINE, now);
  if (!changed) throw new Error('the person was not found');
  return changed.person;
}

/** A new person who has signed in. */
export async function signedIn(
  world: InProcessGateway,
  person: Partial<NewPerson> = {},
): Promise<{ readonly person: Person; readonly browser: Browser }> {
  const made = await personOn(world, person);
  const browser = new Browser(world);
  const { status } = await browser.signIn(made.email);
  if (status !== 200) throw new Error(`the sign-in was refused: ${status}`);
  return { person: made, browser };
}

/** A person who belongs to an account. `offer`: role and limits of the invitation. */
export async function memberIn(
  world: InProcessGateway,
  accountId: number,
  offer: Readonly<Record<string, unknown>>,
  person: Partial<NewPerson> = {},
): Promise<Person> {
  const made = await signedIn(world, person);
  const path = `/api/admin/accounts/${accountId}/invitations/`;
  const { body } = await apiOf(world, ADMIN_TOKEN).post<{ link: string }>(path, offer);
  const secret = body.link.slice(body.link.indexOf('#') + 1);
  const { status } = await made.browser.call('POST', '/api/invitations/accept/', { body: { secret } });
  if (status !== 200) throw new Error(`the invitation was refused: ${status}`);
  return made.person;
}
