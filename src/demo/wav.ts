const HEADER_BYTES = 44;
const RATE_HZ = 8_000;
const BYTES_PER_SAMPLE = 2;
const TONE_HZ = 440;
const LOUDNESS = 8_000;

/** A tone as a WAV file: one channel, 16 bit, 8 kHz. */
export function toneWav(seconds: number): Buffer {
  const samples = Math.round(seconds * RATE_HZ);
  const bytes = samples * BYTES_PER_SAMPLE;
  const wav = Buffer.alloc(HEADER_BYTES + bytes);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(HEADER_BYTES - 8 + bytes, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(RATE_HZ, 24);
  wav.writeUInt32LE(RATE_HZ * BYTES_PER_SAMPLE, 28);
  wav.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  wav.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(bytes, 40);
  for (let sample = 0; sample < samples; sample++) {
    const value = Math.round(LOUDNESS * Math.sin((2 * Math.PI * TONE_HZ * sample) / RATE_HZ));
    wav.writeInt16LE(value, HEADER_BYTES + sample * BYTES_PER_SAMPLE);
  }
  return wav;
}

/** Length of a plain WAV file in seconds, by its header; undefined where the bytes are not such a file. */
export function wavSeconds(wav: Buffer): number | undefined {
  if (wav.length < HEADER_BYTES || wav.toString('latin1', 8, 16) !== 'WAVEfmt ') return undefined;
  return (wav.length - HEADER_BYTES) / wav.readUInt32LE(28);
}
