import { readFileSync } from 'node:fs';
import { test } from 'tap';
import type { Upstream } from '../../src/domain/catalog.ts';
import { CLIENT_HEADERS, CONVERSATION_HEADERS } from '../../src/domain/clients.ts';
import { upstreamHeaders } from '../../src/gateway/upstream/headers.ts';

const specification = readFileSync(new URL('../../docs/specification.md', import.meta.url), 'utf8');
const sentences = specification.replace(/\s+/g, ' ');

test('each header of a client goes upstream, and the specification lists it', async (t) => {
  const upstream = { name: 'u', url: 'http://127.0.0.1:1', apiKey: 'secret', format: 'openai' } as Upstream;
  // Another row passes this one too, so it need not be named.
  const families = CLIENT_HEADERS.filter(({ name }) => name.endsWith('-*')).map(({ name }) =>
    name.slice(0, -1),
  );
  const [, passed = ''] = /Only these headers go upstream: (.*?)\. /.exec(sentences) ?? [];
  t.ok(passed.length > 100, 'the list is found');
  for (const { name } of CLIENT_HEADERS) {
    const sent = name.replace('*', 'anything');
    const headers = upstreamHeaders(
      { headers: { [sent]: 'said' }, accountId: 1, contentType: undefined },
      upstream,
    );
    t.equal(headers[headers.indexOf(sent) + 1], 'said', name);
    const isOfFamily = families.some((family) => name.startsWith(family) && name !== `${family}*`);
    if (!isOfFamily) t.ok(passed.includes(`\`${name}\``), `${name} in the specification`);
  }
});

test('the specification names the headers of a conversation in their order', async (t) => {
  const [, list = ''] = /else the first of the headers (.*?), else the key/.exec(sentences) ?? [];
  t.same(list.match(/[a-z_-]+(?=`)/g), CONVERSATION_HEADERS);
});
