const calls = {} as const;

export default calls;
