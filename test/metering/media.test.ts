import { test } from 'tap';
import { PartCounts } from '../../src/metering/media.ts';

type Part = Readonly<Record<string, unknown>>;

function counted(part: Part) {
  const counts = new PartCounts(undefined);
  counts.add(part);
  const { pictures, files, textBytes, sounds, base64 } = counts;
  return { pictures, files, textBytes, sounds: sounds.length, base64 };
}

const NONE = { pictures: 0, files: 0, textBytes: 0, sounds: 0, base64: 0 };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const PNG = base64('\x89PNG\r\n');
const PDF = base64('%PDF-1.7 and so on');
const CSV = base64('a,b\n1,2\n');

test('pictures, inline and by URL', (t) => {
  const picture = { ...NONE, pictures: 1 };
  for (const part of [
    { type: 'image_url', image_url: { url: 'https://a.example/a.png' } },
    { type: 'input_image', image_url: 'http://a.example/a.png' },
    { type: 'image', source: { type: 'url', url: 'https://a.example/a.png' } },
    { type: 'image', source: { type: 'file', file_id: 'file_1' } },
    { type: 'input_image', file_id: 'file-1' },
  ])
    t.same(counted(part), picture, JSON.stringify(part));
  const inline = { ...picture, base64: PNG.length };
  for (const part of [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
    { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
    { type: 'computer_screenshot', image_url: `data:image/png;base64,${PNG}` },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
    { type: 'image_generation_call', result: PNG },
  ])
    t.same(counted(part), inline, JSON.stringify(part));
  t.same(counted({ type: 'image_url', image_url: { url: `DATA:image/png;base64,${PNG}` } }), picture);
  t.end();
});

test('documents, files, addresses and parts of unknown kinds are files', (t) => {
  for (const [part, inline] of [
    [{ type: 'image_url', image_url: { url: `data:application/pdf;base64,${PDF}` } }, PDF],
    [{ type: 'input_image', image_url: `data:application/pdf;base64,${PDF}` }, PDF],
    [{ type: 'input_image', image_url: `DATA:application/pdf;base64,${PDF}` }, ''],
    [{ type: 'input_image', image_url: ` data:application/pdf;base64,${PDF}` }, ''],
    [{ type: 'input_image', image_url: 'gs://bucket/a.pdf' }, ''],
    [{ type: 'image', source: { type: 'base64', media_type: 'application/pdf', data: PDF } }, PDF],
    [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } }, PDF],
    [{ type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } }, ''],
    [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }, ''],
    [{ type: 'container_upload', file_id: 'file_1' }, ''],
    [{ type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } }, PDF],
    [{ type: 'file', file: { file_data: PDF } }, PDF],
    [{ type: 'input_file', file_url: 'https://a.example/a.csv' }, ''],
    [{ type: 'input_file', file_data: `data:application/vnd.ms-excel;base64,${CSV}` }, CSV],
    [{ type: 'video_url', video_url: { url: 'https://a.example/a.mp4' } }, ''],
    [{ type: 'hologram' }, ''],
    [{ image_url: { url: 'https://a.example/a.png' } }, ''],
  ] as const)
    t.same(counted(part), { ...NONE, files: 1, base64: inline.length }, JSON.stringify(part));
  t.end();
});

test('an inline text file counts its decoded bytes', (t) => {
  const text = { ...NONE, textBytes: 9, base64: CSV.length };
  for (const part of [
    { type: 'file', file: { filename: 'a.csv', file_data: `data:text/csv;base64,${CSV}` } },
    { type: 'file', file: { filename: 'a.csv', file_data: CSV } },
    { type: 'input_file', file_data: `data:text/plain;charset=utf-8;base64,${CSV}` },
    { type: 'input_file', filename: 'a', file_data: `data:application/json;base64,${CSV}` },
    { type: 'input_image', image_url: `data:text/plain;base64,${CSV}` },
    { type: 'document', source: { type: 'base64', media_type: 'text/plain', data: CSV } },
  ])
    t.same(counted(part), text, JSON.stringify(part));
  t.same(counted({ type: 'document', source: { type: 'text', data: 'abc' } }), NONE, 'text among the others');
  t.end();
});

test('a file that is only named like text is a file', (t) => {
  const file = { ...NONE, files: 1 };
  for (const part of [
    { type: 'input_file', filename: 'a.txt', file_data: `data:text/plain;base64,${PDF}` },
    { type: 'input_file', filename: 'a.txt', file_data: PDF },
    { type: 'input_file', filename: 'a.txt', file_data: base64('PK\x03\x04\0\0') },
    { type: 'input_file', filename: 'a.pdf', file_data: `data:text/plain;base64,${CSV}` },
    { type: 'input_file', filename: 'a.txt', file_data: `data:application/pdf;base64,${CSV}` },
    { type: 'input_file', filename: 'a.txt', file_data: CSV, file_url: 'https://a.example/a.pdf' },
    { type: 'input_file', filename: 'a.txt', file_data: `DATA:application/pdf;base64,${CSV}` },
    { type: 'input_file', filename: 'a.txt', file_data: `da\tta:application/pdf;base64,${CSV}` },
    { type: 'input_file', file_data: `data:text/plain;base64,${CSV}\n` },
  ])
    t.match(counted(part), { files: 1, textBytes: 0, pictures: 0 }, JSON.stringify(part));
  t.same(counted({ type: 'input_file' }), file);
  t.end();
});

test('sounds', (t) => {
  const data = base64('RIFF');
  t.same(counted({ type: 'input_audio', input_audio: { data, format: 'wav' } }), {
    ...NONE,
    sounds: 1,
    base64: data.length,
  });
  t.same(counted({ type: 'audio_url', audio_url: { url: 'https://a.example' } }), { ...NONE, sounds: 1 });
  t.end();
});
