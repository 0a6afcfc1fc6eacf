import type { Command } from 'commander';
import {
  type LinkView,
  type PersonPageView,
  type PersonView,
  personView,
} from '../api/people/person-view.ts';
import type { Book } from '../book/book.ts';
import { openBookBeside } from '../book/open-book.ts';
import { PersonEmailTaken } from '../book/persons.ts';
import { loadConfig } from '../config/load.ts';
import { COMMAND_LINE } from '../domain/actor.ts';
import { emailKey } from '../domain/people.ts';
import { newSecret } from '../people/sessions.ts';
import { Failure, type RemoteOptions, remote, urlOf } from './arguments.ts';
import { givenToken, operatorApi } from './gateway-api.ts';
import { io } from './io.ts';
import { type Columns, print, printJson, show } from './print.ts';

/** What the commands do with people, by a running gateway or in its book. */
interface People {
  /** People with ids above `after`. */
  page(after: number): Promise<readonly PersonView[]>;
  create(email: string, isOperator: boolean): Promise<LinkView>;
  reset(id: number): Promise<LinkView>;
  deactivate(id: number): Promise<unknown>;
  erase(id: number): Promise<unknown>;
}

const PAGE = 1_000;
const PEOPLE = '/api/admin/people/';

/** `tollgate person …`: people who sign in. */
export function personCommands(program: Command): void {
  const person = program
    .command('person')
    .description(
      'manage people who sign in (operator); without an operator token, in the book itself, with the environment of the gateway',
    );
  remote(person.command('list')).description('list people').action(list);
  withEmail(person.command('create'))
    .description('print a link with which a person sets a password; it works once, for 24 hours')
    .option('--operator', 'the person becomes an operator')
    .action((email: string, options: RemoteOptions & { operator?: true }) =>
      withPeople(options, async (people) =>
        showLink(options, await people.create(email, options.operator ?? false)),
      ),
    );
  withEmail(person.command('reset'))
    .description('print a link for a new password; until it is used, nothing changes')
    .action((email: string, options: RemoteOptions) =>
      withPeople(options, async (people) => showLink(options, await people.reset(await idOf(people, email)))),
    );
  withEmail(person.command('deactivate'))
    .description('end the sessions of a person, deactivate their keys, and refuse sign-ins')
    .action((email: string, options: RemoteOptions) => change(email, options, 'deactivate'));
  withEmail(person.command('erase'))
    .description(
      'end memberships, sessions and keys of a person, and remove names and addresses everywhere, for good',
    )
    .option('--yes', 'confirm it')
    .action(erase);
}

function withEmail(command: Command): Command {
  return remote(command).argument('<email>', 'email address of the person');
}

async function list(options: RemoteOptions): Promise<void> {
  await withPeople(options, async (people) => {
    const all = await everyone(people);
    show(options, { people: all }, COLUMNS, all);
  });
}

const COLUMNS: Columns<PersonView> = [
  ['ID', ({ id }) => id],
  ['E-MAIL', ({ email }) => email],
  ['NAME', ({ name }) => name],
  ['OPERATOR', ({ is_operator }) => is_operator],
  ['ACTIVE', ({ is_active }) => is_active],
  ['CREATED', ({ created_at }) => created_at],
  ['LAST SEEN', ({ last_seen_at }) => last_seen_at],
];

async function erase(email: string, options: RemoteOptions & { yes?: true }): Promise<void> {
  if (!options.yes) {
    throw new Failure(
      "Erasing a person can't be undone: memberships, sessions and keys end, and names and addresses go, also from accounts whose contact address is theirs. To confirm, add --yes.",
      { isUsage: true },
    );
  }
  await change(email, options, 'erase');
}

async function change(email: string, options: RemoteOptions, what: 'deactivate' | 'erase'): Promise<void> {
  await withPeople(options, async (people) => {
    const id = await idOf(people, email);
    await people[what](id);
    if (options.json) printJson({ id });
    else print(what === 'erase' ? `Person ${id} is erased.` : `Person ${id} is inactive.`);
  });
}

function showLink({ json }: RemoteOptions, answer: LinkView): void {
  if (json) printJson(answer);
  else print(answer.link);
}

async function everyone(people: People): Promise<PersonView[]> {
  const all: PersonView[] = [];
  for (;;) {
    const page = await people.page(all.at(-1)?.id ?? 0);
    if (page.length === 0) return all;
    all.push(...page);
  }
}

async function idOf(people: People, email: string): Promise<number> {
  const found = (await everyone(people)).find((person) => emailKey(person.email) === emailKey(email));
  if (!found) throw new Failure('No person has this e-mail address.');
  return found.id;
}

/** Uses the running gateway if there is an operator token, else the book. */
async function withPeople(options: RemoteOptions, run: (people: People) => Promise<void>): Promise<void> {
  if (givenToken(options)) return await run(peopleOfGateway(options));
  const config = loadConfig({ env: io().env });
  const book = await openBookBeside(config);
  try {
    await run(peopleOfBook(book, config.server.publicUrl ?? urlOf(options)));
  } finally {
    await book.close();
  }
}

function peopleOfGateway(options: RemoteOptions): People {
  const api = operatorApi(options);
  return {
    page: async (after) => {
      const query = `?limit=${PAGE}${after === 0 ? '' : `&after=${after}`}`;
      return (await api.call<PersonPageView>('GET', `${PEOPLE}${query}`)).people;
    },
    create: (email, isOperator) => api.call('POST', PEOPLE, { email, is_operator: isOperator }),
    reset: (id) => api.call('POST', `${PEOPLE}${id}/reset/`),
    deactivate: (id) => api.call('PATCH', `${PEOPLE}${id}/`, { is_active: false }),
    erase: (id) => api.call('DELETE', `${PEOPLE}${id}/`),
  };
}

/** Gateways that run on the book refuse the person's keys once they find the change, within seconds. */
function peopleOfBook(book: Book, url: string): People {
  const link = (page: 'setup' | 'reset', secret: string): LinkView => ({
    link: `${url}/dashboard/${page}#${secret}`,
    mailed: false,
  });
  return {
    page: async (after) => (await book.persons(after, PAGE)).map(personView),
    async create(email, isOperator) {
      const { secret, hash } = newSecret();
      const made: Promise<unknown> = isOperator
        ? book.createSetupLink(email, hash, COMMAND_LINE, Date.now())
        : book.createPerson(email, hash, COMMAND_LINE, Date.now());
      await made.catch((error: unknown) => {
        throw error instanceof PersonEmailTaken ? new Failure(error.message) : error;
      });
      return link(isOperator ? 'setup' : 'reset', secret);
    },
    async reset(id) {
      const { secret, hash } = newSecret();
      await book.createResetLink(id, hash, COMMAND_LINE, Date.now());
      return link('reset', secret);
    },
    deactivate: (id) => book.updatePerson(id, { isActive: false }, COMMAND_LINE, Date.now()),
    erase: (id) => book.erasePerson(id, COMMAND_LINE, Date.now()),
  };
}
