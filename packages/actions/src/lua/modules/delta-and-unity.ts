/** Modules that export Delta tables and register them with Unity catalogs. Written in Lua, as scripts see them. */
export const deltaAndUnitySources: Readonly<Record<string, string>> = {
  delta_exporter: String.raw`
local svc, json, path, strings = require("svc"), require("encoding/json"), require("path"), require("strings")
local url, z85 = require("net/url"), require("encoding/z85enc")
local extractor = require("svc/catalogexport/table_extractor")
local internal = require("svc/catalogexport/internal")

local function descriptor_path(tables_dir, name)
  if not strings.has_suffix(name, ".yaml") then name = name .. ".yaml" end
  return path.join("/", tables_dir, name)
end

-- Addresses are not escaped, whatever they look like; paths in a log are.
local function escaped_address(address)
  local scheme_end = address:find("://")
  if scheme_end == nil then return address end
  local rest = address:sub(scheme_end + 3)
  local host_end = rest:find("/") or #rest + 1
  return url.build_url(address:sub(1, scheme_end - 1), rest:sub(1, host_end - 1), rest:sub(host_end))
end

-- The names of those tables below whose paths something changed between the refs.
local function changed_table_defs(table_names, tables_dir, repository_id, ref, compare_ref)
  local changed = {}
  for page in internal.lakefs_paginiated_api(function(after)
    return svc.diff_refs(repository_id, compare_ref, ref, after, "", "", 1000)
  end) do
    for _, entry in ipairs(page) do
      changed[path.parse(entry.path).parent] = true
    end
  end
  local names = array({})
  for _, name in ipairs(table_names) do
    local descriptor = extractor.get_table_descriptor(svc, repository_id, ref, descriptor_path(tables_dir, name))
    local prefix = descriptor.path
    if not strings.has_suffix(prefix, "/") then prefix = prefix .. "/" end
    for folder in pairs(changed) do
      if strings.has_prefix(folder, prefix) then
        names[#names + 1] = name
        break
      end
    end
  end
  return names
end

-- Where an object of the table lies in the store, or nil when the commit does not have it.
local function physical_address(repo, commit_id, key, transform)
  local code, text = svc.stat_object(repo, commit_id, key)
  if code == 404 then return nil end
  if code ~= 200 then error("failed stat_object with code: " .. tostring(code) .. " path: " .. key) end
  local address = escaped_address(json.unmarshal(text)["physical_address"])
  if transform ~= nil then address = transform(address) end
  return address
end

local function resolve_deletion_vector(vector, locate)
  if vector == nil or vector.storageType == "i" then return end
  local file = vector.pathOrInlineDv
  if vector.storageType == "u" then
    local id, prefix = z85.decode_uuid(file)
    file = (prefix ~= "" and (prefix .. "/") or "") .. "deletion_vector_" .. id .. ".bin"
  elseif vector.storageType ~= "p" then
    error("unknown storage type of a deletion vector: " .. tostring(vector.storageType))
  end
  local address = locate(file)
  if address ~= nil then
    vector.pathOrInlineDv = address
    vector.storageType = "p"
  end
end

local function export_table(action, name, write_object, delta_client, tables_dir, transform)
  local repo, commit_id = action.repository_id, action.commit_id
  local source = descriptor_path(tables_dir, name)
  local descriptor = extractor.get_table_descriptor(svc, repo, commit_id, source)
  if descriptor.type ~= "delta" then error("unexpected table type: " .. tostring(descriptor.type) .. " in " .. source) end
  if not descriptor.name then error("table name is required in " .. source) end
  if not descriptor.path then error("table path is required in " .. source) end
  local location = internal.parse_storage_uri(internal.get_storage_uri_prefix(action.storage_namespace, commit_id, action))
  local table_uri = internal.get_storage_uri_prefix(action.storage_namespace, commit_id, action) .. descriptor.name
  local log, metadata = delta_client.get_table(repo, commit_id, descriptor.path)
  local missing = {}
  local function locate(file, is_needed)
    local key = path.join("/", descriptor.path, file)
    local address = physical_address(repo, commit_id, key, transform)
    if address == nil and is_needed then missing[#missing + 1] = key end
    return address
  end
  local files = {}
  for index, version in ipairs(internal.sortedKeys(log)) do
    local lines = {}
    for _, text in ipairs(log[version]) do
      local entry = json.unmarshal(text)
      for _, kind in ipairs({ "add", "remove", "cdc" }) do
        local item = entry[kind]
        if item ~= nil then
          local is_needed = kind == "add"
          local address = locate(url.query_unescape((strings.replace(item.path, "+", "%2B", -1))), is_needed)
          if address ~= nil then item.path = address end
          resolve_deletion_vector(item.deletionVector, function(file) return locate(file, is_needed) end)
        end
      end
      lines[#lines + 1] = json.marshal(entry)
    end
    files[#files + 1] = { name = string.format("%020d.json", index - 1), content = table.concat(lines) }
  end
  if #missing > 0 then error("The following objects were not found: " .. table.concat(missing, ", ")) end
  for _, file in ipairs(files) do
    write_object(location.bucket, location.key .. descriptor.name .. "/_delta_log/" .. file.name, file.content)
  end
  return { path = table_uri, metadata = metadata }
end

local function export_delta_log(action, table_names, write_object, delta_client, tables_dir, path_transformer)
  local result = {}
  for _, name in ipairs(table_names) do
    result[name] = export_table(action, name, write_object, delta_client, tables_dir, path_transformer)
  end
  return result
end

return { export_delta_log = export_delta_log, changed_table_defs = changed_table_defs }
`,
  unity_exporter: String.raw`
local svc, path, strings = require("svc"), require("path"), require("strings")
local extractor = require("svc/catalogexport/table_extractor")

-- "details" is what export_delta_log answers: for each table its location and metadata.
local function register_tables(action, tables_dir, details, databricks_client, warehouse_id)
  if warehouse_id == nil or warehouse_id == "" then error("warehouse_id is required") end
  local statuses = {}
  for name, exported in pairs(details) do
    local file = strings.has_suffix(name, ".yaml") and name or (name .. ".yaml")
    local source = path.join("/", tables_dir, file)
    local descriptor = extractor.get_table_descriptor(svc, action.repository_id, action.commit_id, source)
    if descriptor.type ~= "delta" then error("unity exporter supports only tables of type delta, " .. source .. " is " .. tostring(descriptor.type)) end
    if not descriptor.name then error("table name is required in " .. source) end
    if not descriptor.catalog then error("catalog name is required in " .. source) end
    local location, metadata = exported, {}
    if type(exported) == "table" then location, metadata = exported.path, exported.metadata or {} end
    local schema = databricks_client.create_schema(action.branch_id, descriptor.catalog, true)
    statuses[name] = databricks_client.register_external_table(descriptor.name, location, warehouse_id, descriptor.catalog, schema, metadata)
  end
  return statuses
end

return { register_tables = register_tables }
`,
};
