import { test } from 'tap';
import { startMediaGateway } from '../helper/start/media-gateway.ts';

const PATH = '/v1/audio/transcriptions';
const TYPE = 'multipart/form-data; boundary=edge';

const field = (name: string, value: string, more = '') =>
  `--edge\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const headed = (part: string, header: string) => part.replace('\r\n\r\n', `\r\n${header}\r\n\r\n`);
const FILE = field('file', 'sound', '; filename="a.wav"');
const MODEL = field('model', 'ears');
const END = '--edge--\r\n';

test('a form that cannot be read, or names a field twice, never reaches the upstream', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  for (const [what, body, type = TYPE, code = 'invalid_json'] of [
    ['two models', MODEL + FILE + field('model', 'ears-renamed') + END],
    ['two models, one in capitals', MODEL + FILE + field('Model', 'x') + END],
    ['a list of models', MODEL + FILE + field('model[]', 'x') + END],
    ['a model as a file', FILE + field('model', 'ears', '; filename="x"') + END],
    ['a model as bytes', FILE + headed(MODEL, 'Content-Type: application/octet-stream') + END],
    ['an encoded name', FILE + MODEL + field('x', 'y').replace('name="x"', "name*=UTF-8''model") + END],
    ['a percent-encoded name', FILE + MODEL + field('%6dodel', 'y') + END],
    ['a name with an escape', FILE + MODEL + field('mod\\el', 'y') + END],
    ['a name with a quote', FILE + MODEL + field('x\\"; name=\\"model', 'y') + END],
    ['a name with a line feed', FILE + MODEL + field('x\ny', 'y') + END],
    ['a part without a name', `${FILE}${MODEL}--edge\r\nContent-Type: text/plain\r\n\r\nx\r\n${END}`],
    ['a part without a head', `${FILE}${MODEL}--edge\r\n\r\nx\r\n${END}`],
    ['another disposition', FILE + MODEL.replace('form-data', 'attachment') + END],
    ['line feeds alone', `${FILE}${MODEL}${END}`.replaceAll('\r\n', '\n')],
    ['a folded header', FILE + MODEL.replace('; name', ';\r\n name') + END],
    ['an encoded value', FILE + headed(MODEL, 'Content-Transfer-Encoding: base64') + END],
    ['a value that is not UTF-8', Buffer.from(FILE + MODEL + field('prompt', '\xe4') + END, 'latin1')],
    ['a longer boundary', FILE + MODEL + END.replace('edge', 'edge2')],
    ['too many parts', FILE + MODEL + field('x[]', 'y').repeat(255) + END],
    ['no end', FILE + MODEL],
    ['a cut part', `${FILE}--edge\r\nContent-Disposition: form-data; name="model"\r\n`],
    ['another boundary', FILE + MODEL + END, 'multipart/form-data; boundary=ed'],
    ['no boundary', FILE + MODEL + END, 'multipart/form-data'],
    ['JSON', '{"model":"ears"}', 'application/json'],
    ['nothing', '', TYPE],
    ['no model', FILE + END, TYPE, 'model_required'],
    ['an empty model', FILE + field('model', '') + END, TYPE, 'model_required'],
    ['an unknown model', FILE + field('model', 'x') + END, TYPE, 'model_not_found'],
    ['a chat model', FILE + field('model', 'flat') + END, TYPE, 'endpoint_mismatch'],
    ['no file', MODEL + END, TYPE, 'invalid_field'],
    ['two files', FILE + MODEL + FILE + END, TYPE, 'invalid_field'],
    ['a file and a field of its name', FILE + MODEL + field('file', 'x') + END, TYPE, 'invalid_field'],
    ['a file elsewhere', field('sound', 'x', '; filename="a"') + MODEL + END, TYPE, 'invalid_field'],
    ['a count that is none', FILE + MODEL + field('n', '-1') + END, TYPE, 'invalid_field'],
  ] as const) {
    const response = await world.post(key, PATH, body, { 'content-type': type });
    const { error } = (await response.json()) as { error: { code: string } };
    t.equal(error.code, code, what);
  }
  t.equal(world.provider.requests.length, 0);
});

test('the provider gets the parts that were read, and nothing else of a form', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  const plain = FILE + MODEL + END;
  const hidden = 'y\n--edge\nContent-Disposition: form-data; name="model"\n\nz\r\n--edg\r\n--e';
  for (const [what, body, received = body, type = TYPE] of [
    ['plain', plain],
    ['a file with a type', headed(FILE, 'Content-Type: audio/webm; codecs="opus"') + MODEL + END],
    ['a field with a type', FILE + headed(MODEL, 'Content-Type: text/plain; charset=UTF-8') + END],
    ['an empty field', FILE + MODEL + field('prompt', '') + END],
    ['empty names', field('file', 'x', '; filename=""') + MODEL + field('', 'x') + END],
    [
      'names in other alphabets',
      field('file', 'x', '; filename="語 ä.wav"') + MODEL + field('ключ', 'ß') + END,
    ],
    ['the same names twice', FILE + MODEL + field('x[]', 'b') + field('x[]', 'a') + END],
    ['what looks like a delimiter', FILE + MODEL + field('prompt', hidden) + field('x', 'y --edge') + END],
    ['no line break at the end', plain.trimEnd(), plain],
    ['text around the form', `Content-Disposition: form-data; name="model"\r\n\r\n${plain}${plain}`, plain],
    ['names without quotes', plain.replaceAll(/name="(\w+)"/g, 'name=$1').replace('"a.wav"', 'a.wav'), plain],
    [
      'other letters',
      plain.replaceAll('Content-Disposition: form-data', 'content-disposition:Form-Data'),
      plain,
    ],
    [
      'headers without effect',
      headed(FILE, 'Content-Length: 1\r\nX-Name: model') +
        headed(MODEL, 'Content-Transfer-Encoding: 8bit') +
        END,
      plain,
    ],
    ['two heads', FILE + headed(MODEL, 'Content-Disposition: form-data; name="x"') + END, plain],
    ['two names', FILE + MODEL.replace('"model"', '"model"; name="x"; name*=UTF-8\'\'x') + END, plain],
    [
      'a line break in a name',
      FILE + MODEL + field('x\r\nX: y', 'y') + END,
      FILE + MODEL + field('x', 'y') + END,
    ],
    ['another parameter', FILE + MODEL.replace(' name', ' x="; name=x; y"; name') + END, plain],
    [
      'a field of another charset',
      FILE + headed(MODEL, 'Content-Type: text/plain; charset=base64') + END,
      FILE + headed(MODEL, 'Content-Type: text/plain') + END,
    ],
    ['parts within a part', headed(FILE, 'Content-Type: multipart/mixed; boundary=x') + MODEL + END, plain],
    ['a type that is none', headed(FILE, 'Content-Type: sound') + MODEL + END, plain],
    [
      'an escaped quote in the name of a file',
      field('file', 'sound', '; filename="\\"; name=model; z=\\\\"') + MODEL + END,
      field('file', 'sound', '; filename="%22; name=model; z=%5C"') + MODEL + END,
    ],
    [
      'two names of a file',
      field('file', 'x', `; filename="ä\\b.wav"; filename*=UTF-8''b.wav`) + MODEL + END,
      field('file', 'x', '; filename="ä\\b.wav"') + MODEL + END,
    ],
    [
      'an encoded name of a file alone',
      field('file', 'x', "; filename*=UTF-8'de'%C3%A4%22%0D%0A.wav") + MODEL + END,
      field('file', 'x', '; filename="ä%22%0D%0A.wav"') + MODEL + END,
    ],
    ['a quoted boundary', plain, plain, 'Multipart/Form-Data;charset=utf-8; boundary="edge"'],
    ['two boundaries', plain, plain, `${TYPE}; boundary=x`],
    ['an odd boundary', plain.replaceAll('edge', 'a; b'), plain, 'multipart/form-data; boundary="a; b"'],
  ] as const) {
    const response = await world.post(key, PATH, body, { 'content-type': type });
    t.equal(response.status, 200, what);
    const request = await world.provider.request(world.provider.requests.length - 1);
    const sentType = request.headers['content-type'] ?? '';
    t.match(sentType, /^multipart\/form-data; boundary=[\w-]{36}$/);
    t.equal(request.body.toString().replaceAll(sentType.slice(-36), 'edge'), received, what);
    t.equal(request.headers['content-length'], String(request.body.length));
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
