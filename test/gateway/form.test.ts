import { test } from 'tap';
import { startMediaGateway } from '../helper/start/media-gateway.ts';

const PATH = '/v1/audio/transcriptions';
const TYPE = 'multipart/form-data; boundary=edge';

const field = (name: string, value: string, more = '') =>
  `--edge\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const FILE = field('file', 'sound', '; filename="a.wav"');
const MODEL = field('model', 'ears');
const END = '--edge--\r\n';

test('a form that could be read in two ways, or not at all, never reaches the upstream', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  for (const [what, body, type = TYPE, code = 'invalid_json'] of [
    ['two models', MODEL + FILE + field('model', 'ears-renamed') + END],
    ['two models, one in capitals', MODEL + FILE + field('Model', 'x') + END],
    ['a list of models', MODEL + FILE + field('model[]', 'x') + END],
    ['a model as a file', FILE + field('model', 'ears', '; filename="x"') + END],
    [
      'a model as bytes',
      `${FILE}${MODEL.replace('\r\n\r\n', '\r\nContent-Type: application/octet-stream\r\n\r\n')}${END}`,
    ],
    ['two names in one part', FILE + field('x', 'ears', '; name="model"') + END],
    ['an escaped quote', FILE + MODEL + field('x', 'y', '; filename="\\"; name=model; z="') + END],
    ['an encoded name', FILE + MODEL + field('x', 'y', "; name*=UTF-8''model") + END],
    ['a percent-encoded name', FILE + MODEL + field('%6dodel', 'y') + END],
    ['a boundary within a line', FILE + field('prompt', 'x --edge') + MODEL + END],
    ['line feeds alone', `${FILE}${MODEL}${END}`.replaceAll('\r\n', '\n')],
    [
      'a hidden part behind line feeds',
      `${FILE}${MODEL}${field('x', 'y\n--edge\nContent-Disposition: form-data; name="model"\n\nz')}${END}`,
    ],
    ['a folded header', FILE + MODEL.replace('; name', ';\r\n name') + END],
    [
      'an encoded value',
      `${FILE}${MODEL.replace('\r\n\r\n', '\r\nContent-Transfer-Encoding: base64\r\n\r\n')}${END}`,
    ],
    [
      'another charset',
      `${FILE}${field('model', 'ZWFycw==').replace('\r\n\r\n', '\r\nContent-Type: text/plain; charset=base64\r\n\r\n')}${END}`,
    ],
    ['a preamble', `x\r\n${FILE}${MODEL}${END}`],
    ['an epilogue', `${FILE}${MODEL}${END}${FILE}`],
    ['no end', FILE + MODEL],
    ['a cut part', `${FILE}--edge\r\nContent-Disposition: form-data; name="model"\r\n`],
    ['two boundaries', FILE + MODEL + END, 'multipart/form-data; boundary=edge; boundary=x'],
    ['no boundary', FILE + MODEL + END, 'multipart/form-data'],
    ['JSON', '{"model":"ears"}', 'application/json'],
    ['nothing', '', TYPE],
    ['no model', FILE + END, TYPE, 'model_required'],
    ['an empty model', FILE + field('model', '') + END, TYPE, 'model_required'],
    ['an unknown model', FILE + field('model', 'x') + END, TYPE, 'model_not_found'],
    ['a chat model', FILE + field('model', 'flat') + END, TYPE, 'endpoint_mismatch'],
    ['no file', MODEL + END, TYPE, 'invalid_field'],
    ['two files', FILE + MODEL + FILE + END, TYPE, 'invalid_field'],
    ['a file elsewhere', field('sound', 'x', '; filename="a"') + MODEL + END, TYPE, 'invalid_field'],
    ['a count that is none', FILE + MODEL + field('n', '-1') + END, TYPE, 'invalid_field'],
  ] as const) {
    const response = await world.post(key, PATH, body, { 'content-type': type });
    const { error } = (await response.json()) as { error: { code: string } };
    t.equal(error.code, code, what);
  }
  t.equal(world.provider.requests.length, 0);
});

test('bodies of common clients are read', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  for (const [what, body, type = TYPE] of [
    ['plain', FILE + MODEL + END],
    ['no line break at the end', FILE + MODEL + END.trimEnd()],
    ['names without quotes', (FILE + MODEL + END).replaceAll(/name="(\w+)"/g, 'name=$1')],
    [
      'lengths and encodings of parts',
      (FILE + MODEL + END).replaceAll(
        '\r\n\r\n',
        '\r\nContent-Length: 5\r\nContent-Transfer-Encoding: binary\r\n\r\n',
      ),
    ],
    [
      'a quoted boundary and a charset',
      FILE + MODEL + END,
      'Multipart/Form-Data;charset=utf-8; boundary="edge"',
    ],
    [
      'two names of a file',
      field('file', 'x', `; filename="ä\\b.wav"; filename*=UTF-8''%C3%A4.wav`) + MODEL + END,
    ],
    ['an empty field', FILE + MODEL + field('prompt', '') + END],
  ] as const) {
    const response = await world.post(key, PATH, body, { 'content-type': type });
    t.equal(response.status, 200, what);
    t.equal((await world.provider.request(world.provider.requests.length - 1)).body.toString(), body, what);
  }
});

test('keys restricted to other categories or models may not upload', async (t) => {
  const world = await startMediaGateway(t);
  const body = FILE + MODEL + END;
  const ask = async (settings: object) => {
    const { key } = await world.account({ key: settings });
    return await (await world.post(key, PATH, body, { 'content-type': TYPE })).json();
  };
  t.match(await ask({ allowedCategories: ['image'] }), { error: { code: 'category_not_allowed' } });
  t.match(await ask({ allowedModels: ['voice'] }), { error: { code: 'model_not_allowed' } });
  t.equal(world.provider.requests.length, 0);
});

test('models of other categories do not fit the media endpoints', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  for (const [path, model] of [
    ['/v1/images/generations', 'voice'],
    ['/v1/audio/speech', 'picture'],
    ['/v1/chat/completions', 'ears'],
  ] as const) {
    const response = await world.post(
      key,
      path,
      JSON.stringify({ model, input: 'x', prompt: 'x', messages: [] }),
    );
    t.equal(response.status, 400);
    t.match(await response.json(), { error: { code: 'endpoint_mismatch' } });
  }
  t.equal(world.provider.requests.length, 0);
});

test('an upload over the limit is refused', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  const body = FILE + field('prompt', 'x'.repeat(51 * 1024 * 1024)) + MODEL + END;
  const response = await world.post(key, PATH, body, { 'content-type': TYPE });
  t.equal(response.status, 413);
});
