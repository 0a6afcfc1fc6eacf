import { test } from 'tap';
import { pictureTokens } from '../../src/metering/images.ts';

const MODEL = { upstreamModel: 'gpt-image-2', maxOutputTokens: 32_768 };

test('a GIF holds a picture for each frame, and planning is in no table of tokens', async (t) => {
  const low = { quality: 'low', size: '1024x1024' };
  t.ok(pictureTokens(MODEL, low) < 1_000);
  t.equal(pictureTokens(MODEL, { ...low, complexity: null }), pictureTokens(MODEL, low));
  t.equal(pictureTokens(MODEL, { ...low, complexity: 'high' }), 32_768);
  const gif = { ...low, output_format: 'gif' };
  for (const [frame_count, frames] of [
    [undefined, 9],
    [null, 9],
    [2, 2],
    // A field of a form.
    ['16', 16],
    [1_000, 16],
    ['many', 16],
    [-1, 16],
  ] as const)
    t.equal(pictureTokens(MODEL, { ...gif, frame_count }), frames * 32_768, String(frame_count));
});
