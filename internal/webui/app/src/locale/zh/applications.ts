const applications = {} as const;

export default applications;
