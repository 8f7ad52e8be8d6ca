# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The part of `scenario` that reads its files: YAML to JSON (a key given twice is refused, on and off
# are words), the keys and their kinds (scenario-keys.jq), and the files that a scenario names.

yaml_to_json()
{
	python3 - "$1" <<-'EOF'
		import json, re, sys, yaml

		class Loader(yaml.SafeLoader):
		    pass

		Loader.yaml_implicit_resolvers = {
		    first: [(tag, rx) for tag, rx in rows if tag not in
		            ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")]
		    for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()}
		Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), "tf")

		def mapping(loader, node):
		    seen = {}
		    for key, value in node.value:
		        name = loader.construct_object(key, deep=True)
		        if not isinstance(name, (str, int)) or name in seen:
		            sys.exit("line %d: '%s' is given twice or is no key" % (key.start_mark.line + 1, name))
		        seen[name] = loader.construct_object(value, deep=True)
		    return seen

		Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
		try:
		    print(json.dumps(yaml.load(open(sys.argv[1]), Loader)))
		except (yaml.YAMLError, OSError, ValueError) as e:
		    sys.exit(" ".join(str(e).split()))
	EOF
}

# near FILE NAME SHIPPED-FOLDER: a file beside FILE, else one that is shipped.
near()
{
	local path

	for path in "$(dirname "$1")/$2" "$3/$2"; do
		if [ -f "$path" ]; then
			realpath "$path"
			return
		fi
	done
	return 1
}

# read_scenario FILE: its JSON on stdout with all defaults filled in, or what is wrong with it, by name.
read_scenario()
{
	local file=$1 json wrong topology profile hosts

	if ! json=$(yaml_to_json "$file" 2>"$work/yaml"); then
		say "$file: $(tail -n1 "$work/yaml")"
		return 1
	fi
	wrong=$(jq -r -L "$here" 'import "scenario-keys" as k; k::complaints' <<<"$json")
	if [ -n "$wrong" ]; then
		while IFS= read -r json; do
			say "$file: $json"
		done <<<"$wrong"
		return 1
	fi
	topology=$(jq -r .topology <<<"$json")
	if ! topology=$(near "$file" "$topology" "$here/topologies"); then
		say "$file: topology: no file of this name here or in $here/topologies"
		return 1
	fi
	hosts=$(grep -oE '\bh[1-6](\.b)?\.wire\b' "$topology" | sort -u | sed 's/\.wire//' | jq -Rsc 'split("\n") | map(select(. != ""))')
	profile=$(jq -r '.profile // "lab"' <<<"$json")
	if [[ $profile == *.yaml ]] && ! profile=$(near "$file" "$profile" "$tree/profiles"); then
		say "$file: profile: no file of this name here"
		return 1
	fi
	jq -L "$here" --arg topology "$topology" --arg profile "$profile" --argjson wires "$hosts" \
		'import "scenario-keys" as k; k::filled($topology; $profile; $wires)' <<<"$json"
}
