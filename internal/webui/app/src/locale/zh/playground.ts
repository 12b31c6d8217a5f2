const playground = {} as const;

export default playground;
