import { type Test, test } from 'tap';
import { configChanges } from '../../src/config/changes.ts';
import { faults, KEY, load, SMALL } from '../helper/fixtures/config-file.ts';

const IDP = 'name: corp, issuer: "https://idp.example/realms/a", clientId: tollgate';
const withOidc = (...providers: string[]) => `${SMALL}\npeople: { oidc: [{ ${providers.join(' }, { ')} }] }`;
const PUBLIC = '\nserver: { publicUrl: "https://gateway.example/ai/" }';
const withMail = (url: string, from = 'Tollgate <a@b.example>') =>
  `${SMALL}${PUBLIC}\nmail: { url: "${url}", from: "${from}" }`;

test('without settings, people sign in with passwords, and nothing is mailed', async (t) => {
  const { people, mail, server } = load(t, SMALL);
  t.same(people, { passwords: true, auditDays: 400, oidc: [] });
  t.equal(mail, undefined);
  t.equal(server.publicUrl, undefined);
});

test('a provider gets the defaults', async (t) => {
  t.same(load(t, withOidc(IDP)).people.oidc, [
    {
      name: 'corp',
      issuer: 'https://idp.example/realms/a',
      clientId: 'tollgate',
      clientSecret: undefined,
      scopes: 'openid email profile',
      domains: [],
      roleClaim: undefined,
      roles: [],
    },
  ]);
});

test('a value of the claim gives one membership or several', async (t) => {
  const roles = `{ Domain Users: { account: 1, role: viewer }, x: [{ account: "\${ID}", role: owner }] }`;
  const file = withOidc(
    `${IDP}, clientSecret: "\${SECRET}", domains: [Example.COM], roleClaim: groups, roles: ${roles}`,
  );
  t.match(load(t, file, { ...KEY, SECRET: 'a b', ID: '7' }).people.oidc[0], {
    clientSecret: 'a b',
    domains: ['example.com'],
    roleClaim: 'groups',
    roles: [
      { value: 'Domain Users', account: 1, role: 'viewer' },
      { value: 'x', account: 7, role: 'owner' },
    ],
  });
  t.match(faults(t, file, { ...KEY, ID: '7' }), [/clientSecret: requires the environment variable SECRET/]);
});

test('an issuer is kept as it is written, and is plain on loopback only', async (t) => {
  const issuer = (url: string) => withOidc(`name: a, issuer: "${url}", clientId: b`);
  for (const url of [
    'https://a.example/',
    'https://a.example/x/',
    'http://127.0.0.1:8081',
    'http://[::1]',
    'http://localhost:1/a',
  ])
    t.equal(load(t, issuer(url)).people.oidc[0]?.issuer, url);
  for (const url of [
    'http://a.example',
    'a.example',
    'https://u:p@a.example',
    'https://a.example/?x',
    'https://a.example/#x',
    'ftp://127.0.0.1',
  ])
    t.match(faults(t, issuer(url)), [/^people\.oidc\[0\]\.issuer: must be/], url);
  for (const tenant of ['common', 'organizations'])
    t.match(faults(t, issuer(`https://login.microsoftonline.com/${tenant}/v2.0`)), [
      /issuer: must name your tenant/,
    ]);
});

for (const [what, file, fault] of [
  ['two providers of one name', withOidc(IDP, IDP), /^people\.oidc: .*named corp/],
  ['a name of other letters', withOidc(IDP.replace('corp', 'Corp')), /^people\.oidc\[0\]\.name: /],
  ['scopes without openid', withOidc(`${IDP}, scopes: "email openid2"`), /scopes: must be .* openid/],
  ['a domain with @', withOidc(`${IDP}, domains: ["@example.com"]`), /domains\[0\]: must be a domain/],
  [
    'roles without a claim',
    withOidc(`${IDP}, roles: { x: { account: 1, role: owner } }`),
    /\.roleClaim: is missing/,
  ],
  ['a claim without roles', withOidc(`${IDP}, roleClaim: groups`), /\.roles: is missing/],
  [
    'an unknown role',
    withOidc(`${IDP}, roleClaim: groups, roles: { x: { account: 1, role: root } }`),
    /roles\.x\.role: must be one of owner/,
  ],
  [
    'an account by name',
    withOidc(`${IDP}, roleClaim: groups, roles: { x: [{ account: lab, role: owner }] }`),
    /roles\.x\[0\]\.account: must be a whole number/,
  ],
  [
    'mail without a public URL',
    `${SMALL}\nmail: { url: "smtp://m", from: a@b.example }`,
    /^server\.publicUrl: is missing; mail/,
  ],
  ['mail by HTTP', withMail('https://m.example'), /^mail\.url: must be smtp/],
  ['mail without a host', withMail('smtp:m.example'), /^mail\.url: must be smtp/],
  ['mail from no address', withMail('smtp://m.example', 'Tollgate'), /^mail\.from: must be an address/],
  [
    'a public URL with a query',
    `${SMALL}\nserver: { publicUrl: "https://a.example/?x" }`,
    /^server\.publicUrl: must be/,
  ],
  [
    'a public URL without a scheme',
    `${SMALL}\nserver: { publicUrl: a.example }`,
    /^server\.publicUrl: must be/,
  ],
] as const) {
  test(`refused at the start: ${what}`, async (t) => {
    const found = faults(t, file);
    t.equal(found.length, 1, found.join(' '));
    t.match(found[0], fault);
  });
}

test('the public URL loses its trailing slash, and mail takes it', async (t) => {
  const { server, mail } = load(t, withMail('smtps://user:pass@m.example:465'));
  t.equal(server.publicUrl, 'https://gateway.example/ai');
  t.same(mail, { url: 'smtps://user:pass@m.example:465', from: 'Tollgate <a@b.example>' });
});

test('faults name no secret', async (t) => {
  const file = `${withOidc(`${IDP}, clientSecret: hunter2, scopes: x`)}\nmail: { url: "http://u:hunter2@m", from: x }`;
  t.notMatch(faults(t, file).join(' '), /hunter2/);
});

test('changes need a restart, and a reload names them without their values', async (t) => {
  const load2 = (inner: Test, secret: string) =>
    load(
      inner,
      `${withOidc(`${IDP}, clientSecret: ${secret}`)}${PUBLIC}\nmail: { url: "smtp://u:${secret}@m", from: a@b.example }`,
    );
  const before = load2(t, 'one');
  t.same(configChanges(before, load2(t, 'two')).needRestart, ['people.oidc', 'mail.url']);
  t.same(configChanges(before, load2(t, 'one')).needRestart, []);
  t.same(configChanges(load(t, SMALL), before).needRestart, [
    'server.publicUrl',
    'people.oidc',
    'mail.url',
    'mail.from',
  ]);
});
