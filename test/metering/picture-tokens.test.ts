import { test } from 'tap';
import { pictureTokens } from '../../src/metering/images.ts';

const of = (upstreamModel: string, asked: Record<string, unknown> = {}) =>
  pictureTokens({ upstreamModel, maxOutputTokens: 32_768 }, asked);

test('gpt-image-1 and its kin: by the table of OpenAI', (t) => {
  t.equal(of('gpt-image-1-mini', { quality: 'low', size: '1024x1024' }), 272);
  t.equal(of('gpt-image-1.5', { quality: 'medium', size: '1024x1536' }), 1_584);
  t.equal(of('gpt-image-1-2025-04-23', { quality: 'high', size: '1536x1024' }), 6_208);
  t.equal(of('gpt-image-1'), 6_240, 'what the vendor chooses is the dearest');
  t.equal(of('gpt-image-1', { quality: 'auto', size: 'auto' }), 6_240);
  t.equal(of('gpt-image-1', { quality: 'low', size: null }), 408);
  t.equal(of('gpt-image-1', { quality: 'low', size: '1024x1024', partial_images: 3 }), 572, 'sketches');
  t.equal(of('gpt-image-1', { quality: 'low', size: '1024x1024', partial_images: '2' }), 472, 'of a form');
  t.end();
});

test('gpt-image-2: by its area, as the calculator of OpenAI has it', (t) => {
  t.equal(of('gpt-image-2', { quality: 'high', size: '1024x1024' }), 7_024);
  t.equal(of('gpt-image-2', { quality: 'high', size: '1792x1024' }), 5_063);
  t.equal(of('gpt-image-2', { quality: 'high', size: '3584x2048' }), 12_329);
  t.equal(of('gpt-image-2-2026-04-21', { quality: 'high', size: '1536x1024' }), 6_208, 'the table has more');
  t.equal(of('gpt-image-2', { quality: 'low', size: '1024x1024' }), 272);
  t.equal(of('gpt-image-2', { quality: 'low' }), 659, 'any size that there can be');
  t.equal(of('gpt-image-2'), 23_719);
  t.end();
});

test('undocumented sizes have the model’s maximum', (t) => {
  for (const asked of [
    { quality: 'max' },
    { size: 'huge' },
    { size: '0x0' },
    { size: '4096x4096' },
    { size: 5 },
  ])
    t.equal(of('gpt-image-2', asked), 32_768, JSON.stringify(asked));
  t.equal(of('gpt-image-1', { size: '2048x2048' }), 32_768);
  t.equal(of('gpt-image-2.5-flare', { quality: 'low', size: '1024x1024' }), 32_768);
  t.equal(of('dall-e-3', { quality: 'low' }), 32_768);
  t.end();
});
