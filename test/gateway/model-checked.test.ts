import { Busboy } from '@fastify/busboy';
import { test } from 'tap';
import { startMediaGateway } from '../helper/start/media-gateway.ts';
import fc from '../helper/suite/fast-check.ts';

/**
 * A key that may use one model only, and bodies that try to name another behind the gateway's back. Parsers that share
 * no code with the gateway must find only that model in every body that passes.
 */
const ALLOWED = 'flat';
const ALLOWED_EARS = 'ears';

const space = fc.constantFrom('', ' ', '\n', '\t');
const modelName = fc.constantFrom(
  '"model"',
  '"mod\\u0065l"',
  '"\\u006D\\u006f\\u0064\\u0065\\u006c"',
  '"Model"',
  '"MODEL"',
  '"model "',
  '" model"',
  '"mod\\u0000el"',
  '"m\\u043edel"',
  '"model[]"',
  '"x\\",\\"model"',
  '"\\u212Amodel"',
);
const modelValue = fc.constantFrom(
  '"flat"',
  '"tokens"',
  '"fl\\u0061t"',
  '"flat\\u0000"',
  '["flat"]',
  '["tokens"]',
  '{"model":"tokens"}',
  'null',
  '"flat","model":"tokens"',
  '"flat"}{"model":"tokens"',
  '"flat" , "__proto__":{"model":"tokens"}',
);
const otherMember = fc.constantFrom(
  '"messages":[]',
  '"x":{"model":"tokens"}',
  '"messages":[{"role":"user","content":"\\",\\"model\\":\\"tokens\\""}]',
  '"__proto__":{"model":"tokens"}',
  '"long":"LONG"',
  '"LONG":1',
);

test('JSON names the checked model upstream', async (t) => {
  const world = await startMediaGateway(t, () => ({
    body: { text: 'Any endpoint takes this for an answer.' },
  }));
  const { key } = await world.account({ key: { allowedModels: [ALLOWED] }, credits: 1_000_000 });
  const tally = { passed: 0, refused: 0 };
  const members = fc.oneof(
    fc.tuple(modelName, space, modelValue).map(([name, gap, value]) => `${name}${gap}:${gap}${value}`),
    otherMember,
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(members, { minLength: 1, maxLength: 4 }),
      space,
      fc.boolean(),
      fc.constantFrom('"model":"flat"', ''),
      async (all, gap, isLarge, honest) => {
        const list = honest === '' ? all : [...all.slice(1), honest];
        const text = `${gap}{${gap}${list.join(`${gap},`)}${gap}}${gap}`.replaceAll(
          'LONG',
          isLarge ? '\\",\\"model\\":\\"tokens\\" '.repeat(60_000) : 'long',
        );
        const n = world.provider.requests.length;
        const response = await world.post(key, '/v1/chat/completions', text);
        await response.arrayBuffer();
        if (response.status !== 200) {
          tally.refused++;
          return world.provider.requests.length === n;
        }
        tally.passed++;
        const received = world.provider.requests[n]?.body.toString('utf8') ?? '';
        const parsed = JSON.parse(received) as { model?: unknown };
        return received === text && Object.hasOwn(parsed, 'model') && parsed.model === ALLOWED;
      },
    ),
  );
  t.comment(JSON.stringify(tally));
  t.ok(tally.passed > 0 && tally.refused > 0);
});

const disposition = fc.constantFrom(
  'form-data; name="model"',
  'form-data; name=model',
  'Form-Data;name="model"',
  'form-data; name="Model"',
  'form-data; name="model[]"',
  'form-data; name="model[0]"',
  'form-data; name="model"; filename="m"',
  'form-data; name="model"; filename=""',
  'form-data; name="x"; name*=UTF-8\'\'model',
  "form-data; name*=UTF-8''model",
  'form-data; name="x"; name="model"',
  'form-data; name="mod\\el"',
  'form-data; name="%6dodel"',
  'form-data; name="x\\"; name="model"',
  "form-data; name='model'",
  'form-data; name="model "',
  'form-data; filename="x"; name="model"',
  'attachment; name="model"',
  'form-data;\r\n name="model"',
  'form-data; x="; name=model; y"; name="prompt"',
);
const headers = fc.constantFrom(
  '',
  '\r\nContent-Type: text/plain; charset=utf-16le',
  '\r\nContent-Type: text/plain; charset=utf-7',
  '\r\nContent-Type: application/octet-stream',
  '\r\nContent-Transfer-Encoding: base64',
  '\r\nContent-Transfer-Encoding: binary',
  '\r\nContent-Disposition: form-data; name="model"',
  '\r\nX: y',
);
const content = fc.constantFrom(
  'ears',
  'scribe',
  'ears-renamed',
  'ears\0',
  ' ears',
  'c2NyaWJl',
  'ears\r\n',
  '',
);
const lineBreak = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r');
const FILE = '--edge\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nSOUND\r\n';
const HONEST = '--edge\r\nContent-Disposition: form-data; name="model"\r\n\r\nears\r\n';
/** Often nothing; otherwise hardly any form would pass. */
const hidden = fc.constantFrom(
  '',
  '',
  '',
  '--edge\r\nContent-Disposition: form-data; name="prompt"\r\n\r\n\n--edge\nContent-Disposition: form-data; name="model"\n\nscribe\r\n',
  '--edge \r\nContent-Disposition: form-data; name="model"\r\n\r\nscribe\r\n',
  '--edge\r\nContent-Disposition: form-data; name="prompt"\r\n\r\n--edge2\r\n',
);

test('a form names the checked model upstream', async (t) => {
  const world = await startMediaGateway(t, () => ({ body: { text: 'x' } }));
  const { key } = await world.account({
    key: { allowedModels: [ALLOWED_EARS, 'ears-renamed'] },
    credits: 1_000_000,
  });
  const upstreamNames = new Set([ALLOWED_EARS, 'upstream-ears-with-a-longer-name']);
  const tally = { passed: 0, refused: 0 };
  const part = fc
    .tuple(disposition, headers, content, lineBreak)
    .map(([name, more, text, end]) => `--edge\r\nContent-Disposition: ${name}${more}\r\n\r\n${text}${end}`);
  const type = fc.constantFrom(
    'multipart/form-data; boundary=edge',
    'multipart/form-data; boundary="edge"',
    'multipart/form-data; charset=utf-16; boundary=edge',
    'multipart/form-data; boundary=edge; boundary=edge2',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(fc.array(part, { maxLength: 1 }), fc.constantFrom(HONEST, HONEST, ''), hidden),
      type,
      fc.nat(3),
      fc.boolean(),
      async ([parts, honest, odd], contentType, fileAt, isLarge) => {
        const all = [...parts, honest, odd].filter((one) => one !== '');
        all.splice(fileAt, 0, FILE.replace('SOUND', isLarge ? 's'.repeat(1_400_000) : 's'));
        const body = `${all.join('')}--edge--\r\n`;
        const n = world.provider.requests.length;
        const response = await world.post(key, '/v1/audio/transcriptions', body, {
          'content-type': contentType,
        });
        await response.arrayBuffer();
        if (response.status !== 200) {
          tally.refused++;
          return world.provider.requests.length === n;
        }
        tally.passed++;
        const received = world.provider.requests[n];
        if (!received) return false;
        const sentType = String(received.headers['content-type']);
        const names = [
          ...(await byBusboy(received.body, sentType)),
          ...(await byFetch(received.body, sentType)),
        ];
        return names.length === 2 && names[0] === names[1] && upstreamNames.has(names[0] ?? '');
      },
    ),
  );
  t.comment(JSON.stringify(tally));
  t.ok(tally.passed > 0 && tally.refused > 0);
});

/** All models that a parser finds, however their fields are spelled. */
const isModel = (name: string) => /^\s*model(\[\d*\])?\s*$/i.test(name);

function byBusboy(body: Buffer, contentType: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const found: string[] = [];
    const parser = new Busboy({ headers: { 'content-type': contentType }, isPartAFile: () => false });
    parser.on('field', (name, value) => {
      if (isModel(name)) found.push(value);
    });
    parser.on('file', (name, stream) => {
      if (isModel(name)) found.push('a file');
      stream.resume();
    });
    parser.on('finish', () => resolve(found));
    parser.on('error', reject);
    parser.end(body);
  });
}

async function byFetch(body: Buffer, contentType: string): Promise<string[]> {
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': contentType },
  }).formData();
  return [...form].filter(([name]) => isModel(name)).map(([, value]) => String(value));
}
