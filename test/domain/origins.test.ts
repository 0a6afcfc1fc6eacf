import { test } from 'tap';
import { compileOrigins, parseOriginRule, requestOrigin } from '../../src/domain/origins.ts';

const RULES: readonly [text: string, stored: string][] = [
  ['https://app.example.com', 'https://app.example.com'],
  ['HTTPS://App.Example.COM', 'https://app.example.com'],
  ['https://app.example.com/', 'https://app.example.com'],
  ['https://app.example.com:443', 'https://app.example.com'],
  ['https://app.example.com:0443', 'https://app.example.com'],
  ['http://app.example.com:80', 'http://app.example.com'],
  ['https://app.example.com:80', 'https://app.example.com:80'],
  ['http://localhost:3000', 'http://localhost:3000'],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['http://[::1]:8080', 'http://[::1]:8080'],
  ['http://*.localhost:3000', 'http://*.localhost:3000'],
  ['https://*.internal', 'https://*.internal'],
  ['http://[0:0::1]', 'http://[::1]'],
  ['https://*.example.com', 'https://*.example.com'],
  ['https://*.EXAMPLE.com:8443/', 'https://*.example.com:8443'],
  ['https://*.example.com:443', 'https://*.example.com'],
  ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ['https://*.bücher.example', 'https://*.xn--bcher-kva.example'],
  ['chrome-extension://abcdefgh', 'chrome-extension://abcdefgh'],
  ['file://', 'file://'],
  ['FILE:///', 'file://'],
  ['null', 'null'],
  ['app://.', 'app://.'],
  ['app://./', 'app://.'],
  ['VSCode-Webview://*', 'vscode-webview://*'],
  ['capacitor://localhost', 'capacitor://localhost'],
  ['app.example.com', 'app.example.com'],
  ['App.Example.com/', 'app.example.com'],
  ['localhost', 'localhost'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['127.0.0.1', '127.0.0.1'],
  ['[::1]', '[::1]'],
];

for (const [text, stored] of RULES) {
  test(`the rule ${text} is stored as ${stored}`, async (t) => {
    t.equal(parseOriginRule(text), stored);
    t.equal(parseOriginRule(stored), stored, 'and stays so');
  });
}

const NO_RULES = [
  '',
  '/',
  '*',
  '*.example.com',
  'https://',
  'https:///',
  'https://*',
  'http://*',
  'ws://*',
  'file://*',
  'https://.',
  '://*',
  'https://*.',
  'https://*.*.example.com',
  'https://a.*.example.com',
  'https://a*.example.com',
  'https://＊.example.com',
  'https://*.127.0.0.1',
  'https://*.[::1]',
  'https://app.example.com//',
  'https://app.example.com/path',
  'https://app.example.com?q',
  'https://app.example.com#f',
  'https://user@app.example.com',
  'https://user:pass@app.example.com',
  'https://app.example.com:0',
  'https://app.example.com:65536',
  'https://app.example.com:',
  'https://app.example.com:port',
  'https://app.example.com:80:80',
  'https:app.example.com',
  'https:\\\\app.example.com',
  'https://app example.com',
  ' https://app.example.com',
  'https://app.example.com\n',
  'https://app.exa\tmple.com',
  'https://app%2eexample.com',
  'https://a.example,https://b.example',
  'https://[::1',
  '://example.com',
  '1https://example.com',
  'example.com:8080',
  '::1',
  'javascript:alert(1)',
  'ftp://example.com',
  'ws://example.com',
  'wss://*.example.com',
  'file://example.com',
  'https://*.com',
  'https://*.com.',
  'https://*.dev:8443',
  'https://\u0000.example',
  '.example.com',
  'https://.example.com',
  'https://a..example.com',
  'a'.repeat(1_000_000),
  `https://${'a.'.repeat(500_000)}com`,
];

for (const text of NO_RULES) {
  test(`${JSON.stringify(text.slice(0, 40))} is no rule for origins`, async (t) => {
    t.equal(parseOriginRule(text), undefined);
  });
}

const VERDICTS: readonly [rule: string, origin: string, allowed: boolean][] = [
  ['https://app.example.com', 'https://app.example.com', true],
  ['https://app.example.com', 'https://APP.example.com', true],
  ['https://app.example.com', 'https://app.example.com:443', true],
  ['https://app.example.com', 'https://app.example.com:8443', false],
  ['https://app.example.com', 'http://app.example.com', false],
  ['https://app.example.com', 'https://example.com', false],
  ['https://app.example.com', 'https://x.app.example.com', false],
  ['https://app.example.com', 'https://app.example.com.evil.test', false],
  ['https://app.example.com', 'https://evil.test/https://app.example.com', false],
  ['https://app.example.com', 'https://app.example.com@evil.test', false],
  ['http://localhost:3000', 'http://localhost:3000', true],
  ['http://localhost:3000', 'http://localhost', false],
  ['https://*.example.com', 'https://a.example.com', true],
  ['https://*.example.com', 'https://a.b.c.example.com', true],
  ['https://*.example.com', 'https://example.com', false],
  ['https://*.example.com', 'https://*.example.com', false],
  ['https://*.example.com', 'https://＊.example.com', false],
  ['https://*.example.com', 'https://.example.com', false],
  ['https://*.example.com', 'http://a.example.com', false],
  ['https://*.example.com', 'https://a.example.com:8443', false],
  ['https://*.example.com', 'https://aexample.com', false],
  ['https://*.example.com', 'https://a.example.com.evil.test', false],
  ['https://*.example.com:8443', 'https://a.example.com:8443', true],
  ['https://*.example.com:8443', 'https://a.example.com', false],
  ['example.com', 'https://example.com', true],
  ['example.com', 'http://example.com:3000', true],
  ['example.com', 'https://a.example.com', false],
  ['example.com', 'example.com', false],
  ['[::1]', 'http://[::1]:3000', true],
  ['https://bücher.example', 'https://xn--bcher-kva.example', true],
  ['chrome-extension://abcdefgh', 'chrome-extension://abcdefgh', true],
  ['chrome-extension://abcdefgh', 'chrome-extension://other', false],
  ['https://app.example.com', 'null', false],
  ['null', 'null', true],
  ['null', 'https://null', false],
  ['null', 'file://', false],
  ['file://', 'file://', true],
  ['file://', 'null', false],
  ['file://', 'file://host', false],
  ['app://.', 'app://.', true],
  ['app://.', 'app://host', false],
  ['vscode-webview://*', 'vscode-webview://1kq2c0v', true],
  ['vscode-webview://*', 'vscode-file://vscode-app', false],
  ['vscode-webview://*', 'null', false],
  ['https://app.example.com', '', false],
  ['https://app.example.com', 'https://app.example.com, https://evil.test', false],
  ['https://app.example.com', 'https://app.example.com\u0000', false],
  ['https://*.example.com', `https://${'a.'.repeat(500_000)}example.com`, false],
];

for (const [rule, origin, allowed] of VERDICTS) {
  test(`${rule} ${allowed ? 'allows' : 'does not allow'} ${JSON.stringify(origin.slice(0, 60))}`, async (t) => {
    const stored = parseOriginRule(rule);
    t.ok(stored, 'a rule');
    t.equal(stored !== undefined && compileOrigins([stored]).allows(origin), allowed);
  });
}

test('one of several rules is enough', async (t) => {
  const matcher = compileOrigins(['https://a.example', 'b.example', 'https://*.c.example']);
  t.ok(matcher.allows('https://a.example'));
  t.ok(matcher.allows('http://b.example:81'));
  t.ok(matcher.allows('https://x.c.example'));
  t.notOk(matcher.allows('https://c.example'));
});

test('no rules allow nothing', async (t) => {
  t.notOk(compileOrigins([]).allows('https://a.example'));
});

test('an origin that one list allowed is checked again by another', async (t) => {
  const [one, two] = [compileOrigins(['https://*.d.example']), compileOrigins(['https://x.d.example:81'])];
  for (const matcher of [one, two, one]) {
    t.equal(matcher.allows('https://x.d.example'), matcher === one);
    t.equal(matcher.allows('https://x.d.example:81'), matcher === two);
  }
});

test('an origin is checked the same however many were seen in between', async (t) => {
  const matcher = compileOrigins(['https://*.e.example']);
  const wrong: number[] = [];
  for (let n = 0; n < 3_000; n++) {
    const isAllowed = matcher.allows(`https://a${n}.e.example`) && matcher.allows('https://a0.e.example');
    if (!isAllowed || matcher.allows(`https://a${n}.f.example`)) wrong.push(n);
  }
  t.same(wrong, []);
});

const REQUESTS: readonly [
  what: string,
  origin: string | undefined,
  referer: string | undefined,
  seen: string | undefined,
][] = [
  ['neither', undefined, undefined, undefined],
  ['empty headers', '', '', undefined],
  ['Origin', 'https://a.example', undefined, 'https://a.example'],
  ['Origin before Referer', 'https://a.example', 'https://b.example/page', 'https://a.example'],
  ['Origin null, also with a good Referer', 'null', 'https://b.example/page', 'null'],
  ['Referer', undefined, 'https://b.example:8443/page?q=1#f', 'https://b.example:8443'],
  ['Referer of a file', undefined, 'file:///C:/app/index.html', 'file://'],
  ['Referer with a default port', undefined, 'https://b.example:443/', 'https://b.example'],
  ['Referer behind an empty Origin', '', 'https://b.example/', 'https://b.example'],
  ['Referer with a user name like a host', undefined, 'https://a.example@evil.test/', 'https://evil.test'],
  [
    'Referer of an extension',
    undefined,
    'chrome-extension://abcdefgh/page.html',
    'chrome-extension://abcdefgh',
  ],
  ['Referer without a host', undefined, 'about:blank', 'null'],
  ['Referer that is no URL', undefined, 'a.example', 'null'],
  ['a huge Referer', undefined, `https://b.example/${'a'.repeat(1_000_000)}`, 'https://b.example'],
];

for (const [what, origin, referer, seen] of REQUESTS) {
  test(`the origin of a request: ${what}`, async (t) => {
    t.equal(requestOrigin(origin, referer), seen);
  });
}
