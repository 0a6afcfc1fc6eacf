/** Modalities as people call them. */
export const CATEGORY_NAMES: Readonly<Record<string, string>> = {
  text: 'Text',
  image: 'Images',
  tts: 'Speech (tts)',
  stt: 'Transcription (stt)',
  video: 'Video',
};
