import { Type } from 'typebox';

/** Contract section 3: the shape of every error. */
const ErrorBody = Type.Object(
  {
    error: Type.Object({
      message: Type.String({ description: 'What happened and what to do about it' }),
      type: Type.String(),
      param: Type.Union([Type.String(), Type.Null()], { description: 'The field that was refused' }),
      code: Type.String({ description: 'Stable; what programs should compare' }),
    }),
  },
  { description: 'The request was refused' },
);

/** The error answers of every route, to be spread into its response schemas. */
export const ERROR_ANSWERS = { '4xx': ErrorBody, '5xx': ErrorBody };
