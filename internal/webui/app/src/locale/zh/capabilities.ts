const capabilities = {} as const;

export default capabilities;
