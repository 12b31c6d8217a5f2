/** What is said when no language could be loaded, so in both. */
export const withoutWords = {
  text: '页面没能加载完整，请检查网络后重试。 The page could not be loaded. Check the network and try again.',
  retry: '重试 Retry',
};
