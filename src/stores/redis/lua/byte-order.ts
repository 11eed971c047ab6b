// Lua: texts in the order of their bytes, as indexes keep them. Lua's own comparison goes by the locale of the server.
export const BYTE_ORDER = String.raw`
local function isBefore(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end
`;
